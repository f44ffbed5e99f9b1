import { join } from 'node:path';
import { LionError } from '../../shared/contract/errors.ts';
import { isDirectory } from '../../shared/file-kind.ts';
import { printable } from '../../shared/printable.ts';
import { installedDefinition, notInstalled, templateText } from './definition.ts';
import { lingers } from './linger.ts';
import type { Command, Plan, Step } from './plan.ts';
import { faultOf } from './run-command.ts';
import type { Control, InstallOptions, Manager, Place, ServiceState } from './service.ts';
import { busFault, systemdVersionOf, UNIT_PROPERTIES, type UnitState, unitStateOf } from './systemd-state.ts';
import { lingerIsOursIn, renderUnit } from './unit.ts';
import { captureValues } from './values.ts';

const UNIT = 'liond.service';
/** A question to the manager. */
const ASK_TIMEOUT_MS = 10_000;
const CHANGE_TIMEOUT_MS = 30_000;
/** Longer than a start (90 s by systemd's own default) or a stop (45 s in the unit), and both of a restart. */
const START_TIMEOUT_MS = 150_000;

const systemctl = (...args: readonly string[]): Command => [
  'systemctl',
  '--user',
  '--no-ask-password',
  ...args,
];
const RELOAD = systemctl('daemon-reload');

/** @throws LionError `unavailable` where the user's manager cannot be reached: nothing was changed. */
export async function openSystemd(place: Place): Promise<Manager> {
  const version = await reach(place);
  const file = join(place.home.userDir, '.config', 'systemd', 'user', UNIT);
  const look = async (): Promise<UnitState> => {
    const command = systemctl('show', UNIT, `--property=${UNIT_PROPERTIES}`);
    const result = await place.run(command, ASK_TIMEOUT_MS);
    if (result.exitCode !== 0) throw new LionError('unavailable', faultOf(command, result));
    return unitStateOf(result.stdout);
  };
  return {
    name: 'systemd',
    file,
    env: place.env,
    planInstall: async (options) => planInstall(place, { file, version, unit: await look() }, options),
    planUninstall: async () => planUninstall(place, file, await look()),
    planControl: async (control) => planControl(control, await look()),
    state: async () => stateOf(await look(), lingers(place.user.name)),
  };
}

/** The version of the user's manager. */
async function reach(place: Place): Promise<number> {
  const result = await place.run(systemctl('show', '--property=Version'), ASK_TIMEOUT_MS);
  if (result.exitCode === 0) return systemdVersionOf(result.stdout);
  const runtimeDir = place.env.XDG_RUNTIME_DIR ?? '';
  const fault = busFault({
    user: place.user.name,
    runtimeDir,
    hasRuntimeDir: isDirectory(runtimeDir),
    hasLoginctl: place.hasProgram('loginctl'),
    said: printable(result.stderr.trim().replaceAll(/\s*\n\s*/g, '; ')),
  });
  throw new LionError('unavailable', `${fault}. Nothing was changed`);
}

function stateOf(unit: UnitState, linger: boolean | null): ServiceState {
  return { state: unit.load === 'not-found' ? 'not installed' : unit.active, pid: unit.pid, linger };
}

interface Found {
  readonly file: string;
  readonly version: number;
  readonly unit: UnitState;
}

function planInstall(place: Place, { file, version, unit }: Found, options: InstallOptions): Plan {
  const before = installedDefinition(file);
  const lingering = lingers(place.user.name) === true;
  const enableLinger = options.linger && !lingering;
  if (enableLinger && !place.hasProgram('loginctl'))
    throw new LionError(
      'unavailable',
      'lingering is asked for and there is no loginctl; install systemd with logind. Nothing was changed',
    );
  const { values, notes } = captureValues(place.call, place.home);
  const content = renderUnit(templateText(place.call.program.main, `systemd/${UNIT}`), values, {
    systemd: version,
    lingerIsOurs: enableLinger || (lingering && lingerIsOursIn(before)),
  });
  const written = before !== content;
  const runs = unit.active === 'active';
  const steps: Step[] = [];
  if (written) steps.push(writing(file, content, before, runs));
  if (written || unit.needsReload || unit.load !== 'loaded') steps.push(change(RELOAD), readFromHere(file));
  if (unit.file !== 'enabled') steps.push(change(systemctl('enable', UNIT), systemctl('disable', UNIT)));
  if (written || !runs) steps.push(starting(runs ? 'restart' : 'start'));
  if (enableLinger) steps.push(change(['loginctl', '--no-ask-password', 'enable-linger', place.user.name]));
  return {
    result: steps.length === 0 ? 'unchanged' : before === null ? 'installed' : 'healed',
    steps,
    notes: [...notes, lingerNote(place.user.name, lingering, enableLinger)],
  };
}

function lingerNote(user: string, lingering: boolean, enabled: boolean): string {
  if (lingering) return `lingering is on for ${user}: the service starts at boot and goes on after log-out`;
  if (enabled)
    return `lingering is enabled for ${user}: the service starts at boot and goes on after log-out`;
  return `lingering is off for ${user}: the service stops when the last session of ${user} ends, and starts with the next; runs go on, and their notices come later. To have it run from boot on: lion daemon install --linger (or: loginctl enable-linger ${user})`;
}

/** The old one runs again once it is back. */
function writing(path: string, content: string, before: string | null, runs: boolean): Step {
  const afterUndo = runs && before !== null ? [RELOAD, systemctl('restart', UNIT)] : [RELOAD];
  return { kind: 'write', path, content, before, afterUndo };
}

function change(command: Command, undo?: Command): Step {
  const step = { kind: 'run', command, timeoutMs: CHANGE_TIMEOUT_MS } as const;
  return undo === undefined ? step : { ...step, undo };
}

/** A manager whose HOME is another than ours looks elsewhere; a unit of the same name may hide this one. */
function readFromHere(file: string): Step {
  return {
    kind: 'check',
    command: systemctl('show', UNIT, `--property=${UNIT_PROPERTIES}`),
    timeoutMs: ASK_TIMEOUT_MS,
    what: `the service manager reads ${file}`,
    holds: (exitCode, stdout) => exitCode === 0 && unitStateOf(stdout).path === file,
    withinMs: 0,
    cure: 'is HOME that of the user who runs this, and is there no other unit of that name (systemctl --user cat liond)?',
  };
}

function starting(how: 'start' | 'restart'): Step {
  const step = { kind: 'run', command: systemctl(how, UNIT), timeoutMs: START_TIMEOUT_MS } as const;
  return how === 'start' ? { ...step, undo: systemctl('stop', UNIT) } : step;
}

function planUninstall(place: Place, file: string, unit: UnitState): Plan {
  const before = installedDefinition(file);
  const gone = before === null;
  if (gone && unit.load === 'not-found' && unit.active === 'inactive')
    return { result: 'unchanged', steps: [], notes: ['no service is installed'] };
  if (gone && unit.path !== '' && unit.path !== file)
    throw new LionError(
      'conflict',
      `${UNIT} comes from ${unit.path}, which lion daemon install did not write; it is left alone`,
    );
  const steps: Step[] = [];
  if (unit.active !== 'inactive')
    steps.push({ kind: 'run', command: systemctl('stop', UNIT), timeoutMs: START_TIMEOUT_MS });
  if (unit.file !== '' || unit.load === 'loaded') steps.push(change(systemctl('disable', UNIT)));
  if (!gone) steps.push({ kind: 'remove', path: file });
  steps.push(change(RELOAD));
  if (unit.active === 'failed') steps.push(change(systemctl('reset-failed', UNIT)));
  if (lingerIsOursIn(before) && lingers(place.user.name))
    steps.push(change(['loginctl', '--no-ask-password', 'disable-linger', place.user.name]));
  return { result: 'uninstalled', steps, notes: uninstallNotes(`${file}.d`) };
}

function uninstallNotes(dropIns: string): string[] {
  const kept = 'runs go on, and the store with its configuration and log stays';
  return isDirectory(dropIns) ? [kept, `your own changes in ${dropIns} stay`] : [kept];
}

function planControl(control: Control, unit: UnitState): Plan {
  if (unit.load !== 'loaded') throw notInstalled();
  const plan = (result: Plan['result'], ...steps: readonly Step[]): Plan => ({ result, steps, notes: [] });
  const reload = unit.needsReload ? [change(RELOAD)] : [];
  if (control === 'stop') {
    if (unit.active === 'inactive' || unit.active === 'failed') return plan('unchanged');
    return plan('stopped', { kind: 'run', command: systemctl('stop', UNIT), timeoutMs: START_TIMEOUT_MS });
  }
  if (control === 'start' && unit.active === 'active') return plan('unchanged');
  const step = { kind: 'run', command: systemctl(control, UNIT), timeoutMs: START_TIMEOUT_MS } as const;
  return plan(control === 'start' ? 'started' : 'restarted', ...reload, step);
}
