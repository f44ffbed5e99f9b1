/** From `launchctl print DOMAIN/io.liond`: the process that runs; null: loaded, and none does. */
export function pidIn(printed: string): number | null {
  const pid = /^\s*pid = (\d+)\s*$/m.exec(printed)?.[1];
  return pid === undefined ? null : Number(pid);
}

/** From `launchctl print-disabled DOMAIN`; older systems say `true` for `disabled`. */
export function isDisabledIn(printed: string, label: string): boolean {
  return printed
    .split('\n')
    .some((line) => line.includes(`"${label}" =>`) && /=> (true|disabled)/.test(line));
}
