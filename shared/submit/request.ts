/** The servers an agent is given, as its record names them. */
export interface McpConfig {
  /** Text of the file the run gets, null where it gets none. */
  readonly fileText: string | null;
  readonly source: string | null;
  /** Why there is none; null where there is one. */
  readonly reason: string | null;
  /** Names, sorted; null where nothing was found to declare any. */
  readonly declared: readonly string[] | null;
}

/** What a submission asks for, before it has an id. */
export interface SubmitRequest {
  readonly kind: string;
  /** The command to start, given the files of the new run. */
  readonly argv: (files: RunFiles) => readonly string[];
  /** What the record names as the command, where that is not what is started. */
  readonly shownArgv?: readonly string[];
  /** Where it runs, null for the caller's own directory. */
  readonly cwd: string | null;
  readonly label: string | null;
  readonly notifyCommand: string | null;
  readonly notifyTarget: string | null;
  readonly notifySender: string | null;
  readonly tags: readonly string[];
  /** Copied into the run before it starts, so that a later edit changes nothing. */
  readonly prompt: string | null;
  readonly mcp: McpConfig | null;
}

export interface RunFiles {
  readonly runId: string;
  readonly runDir: string;
  readonly log: string;
  readonly promptFile: string;
  readonly mcpFile: string;
}
