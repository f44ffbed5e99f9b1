/** Where a person reads: how wide, and whether colour is seen there. */
export interface Screen {
  /** Columns, or null for a pipe or file, where nothing is cut. */
  readonly columns: number | null;
  /** Lines, or null where there is no end of them. */
  readonly rows: number | null;
  readonly colour: boolean;
  readonly nowMs: number;
}

export function screenOf(
  stream: NodeJS.WriteStream,
  env: Readonly<Record<string, string | undefined>>,
): Screen {
  const terminal = stream.isTTY === true;
  return {
    columns: terminal ? stream.columns || 80 : null,
    rows: terminal ? stream.rows || 24 : null,
    colour: terminal && !env.NO_COLOR && env.TERM !== 'dumb',
    nowMs: Date.now(),
  };
}

const CODES = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export function paint(screen: Screen, colour: keyof typeof CODES, text: string): string {
  return screen.colour && text !== '' ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
}
