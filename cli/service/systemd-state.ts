/** What systemd says of the unit, in its own words. */
export interface UnitState {
  /** `loaded`, `not-found`, `masked`, ... */
  readonly load: string;
  /** `active`, `inactive`, `failed`, `activating`, ... */
  readonly active: string;
  /** `enabled`, `disabled`, ... */
  readonly file: string;
  /** The file it was read from. */
  readonly path: string;
  readonly needsReload: boolean;
  readonly pid: number | null;
}

export const UNIT_PROPERTIES = 'LoadState,ActiveState,UnitFileState,FragmentPath,NeedDaemonReload,MainPID';

/** From `systemctl show --property=...`: a line each, in any order. */
export function unitStateOf(shown: string): UnitState {
  const values = new Map(
    shown.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
  const of = (name: string): string => values.get(name) ?? '';
  return {
    load: of('LoadState'),
    active: of('ActiveState'),
    file: of('UnitFileState'),
    path: of('FragmentPath'),
    needsReload: of('NeedDaemonReload') === 'yes',
    pid: Number(of('MainPID')) || null,
  };
}

/** The major version from `Version=252.38-1~deb12u1`; 0 where none is told, which is older than any we ask about. */
export function systemdVersionOf(shown: string): number {
  return Number(/^Version=v?(\d+)/m.exec(shown)?.[1] ?? 0);
}

/** Why the manager of the user's services cannot be reached, and what mends it. */
export function busFault(facts: {
  readonly user: string;
  readonly runtimeDir: string;
  readonly hasRuntimeDir: boolean;
  readonly hasLoginctl: boolean;
  /** What systemctl said. */
  readonly said: string;
}): string {
  const { user, runtimeDir, hasRuntimeDir, hasLoginctl, said } = facts;
  const words = said === '' ? '' : ` (${said})`;
  const instead = 'or have another supervisor of processes run: lion daemon run';
  if (!hasLoginctl)
    return `systemd does not look after users here: there is no loginctl, as in most containers${words}; install systemd with logind, ${instead}`;
  if (!hasRuntimeDir)
    return `no service manager runs for user ${user}: ${runtimeDir} is not there${words}; log in as ${user} itself (ssh, or machinectl shell ${user}@), not by su or sudo, or as root: loginctl enable-linger ${user}; ${instead}`;
  return `the service manager of user ${user} does not answer${words}; log in anew as ${user}, or as root: systemctl restart user@$(id -u ${user}); ${instead}`;
}
