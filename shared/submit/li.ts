import type { RunFiles } from './request.ts';

/** What `li` can be asked to run in the background. */
export type LiKind = 'agent' | 'flow' | 'fanout' | 'play';

export interface LiCall {
  readonly kind: LiKind;
  /** The configured command, split on blanks. */
  readonly li: readonly string[];
  /** The caller's own words for `li`. */
  readonly args: readonly string[];
  readonly prompt: string | null;
  readonly withMcpFile: boolean;
  readonly lion: { readonly node: string; readonly main: string };
}

const VERBS: Readonly<Record<LiKind, readonly string[]>> = {
  agent: ['agent'],
  flow: ['orchestrate', 'flow'],
  fanout: ['orchestrate', 'fanout'],
  // A play is a flow with a playbook.
  play: ['orchestrate', 'flow'],
};

/** The `li` command line of a run; its `--notify` is the run's terminal hook. */
export function liArgv(call: LiCall, files: RunFiles): string[] {
  const hook = `${word(call.lion.node)} ${word(call.lion.main)} hook terminal --run-id ${files.runId} --status {status}`;
  const mcp = call.withMcpFile ? ['--mcp-config', files.mcpFile] : [];
  return [...call.li, ...VERBS[call.kind], '--notify', hook, ...mcp, ...promptAndArgs(call, files)];
}

/** An agent reads its prompt from a file; the others take it as the last word, after a `--`. */
function promptAndArgs(call: LiCall, files: RunFiles): string[] {
  if (call.prompt === null) return [...call.args];
  if (call.kind === 'agent') return ['--prompt-file', files.promptFile, ...call.args];
  return [...call.args, ...(call.args.includes('--') ? [] : ['--']), call.prompt];
}

/** Quoted as POSIX words are, since `li` splits the hook's text as shlex does. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
