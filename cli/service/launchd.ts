import { join } from 'node:path';
import { LionError } from '../../shared/contract/errors.ts';
import { printable } from '../../shared/printable.ts';
import { installedDefinition, notInstalled, templateText } from './definition.ts';
import { isDisabledIn, pidIn } from './launchd-state.ts';
import { type Command, commandText, type Plan, type Step } from './plan.ts';
import { renderPlist } from './plist.ts';
import type { Control, Manager, Place } from './service.ts';
import { captureValues } from './values.ts';

const LABEL = 'io.liond';
const PLIST = `${LABEL}.plist`;
const ASK_TIMEOUT_MS = 10_000;
/** Longer than a stop may take (ExitTimeOut is 45 s). */
const CHANGE_TIMEOUT_MS = 60_000;
/** What `bootstrap` says for a moment after a `bootout`: input/output error. It passes within seconds. */
const STILL_LEAVING = { exitCode: 5, times: 5, pauseMs: 1_000 } as const;
/** What `bootout` says of a service that is not there. */
const NO_SUCH_PROCESS = 3;
/** `bootout` has begun and the service has not ended yet: what follows waits for that. */
const IN_PROGRESS = 36;

interface Agent {
  readonly file: string;
  readonly domain: string;
  readonly loaded: boolean;
  readonly pid: number | null;
  readonly disabled: boolean;
}

/** @throws LionError `unavailable` where the user's launchd cannot be reached: nothing was changed. */
export async function openLaunchd(place: Place): Promise<Manager> {
  const file = join(place.home.userDir, 'Library', 'LaunchAgents', PLIST);
  const domain = await domainOf(place);
  const look = async (): Promise<Agent> => {
    const printed = await place.run(['launchctl', 'print', `${domain}/${LABEL}`], ASK_TIMEOUT_MS);
    const disabled = await place.run(['launchctl', 'print-disabled', domain], ASK_TIMEOUT_MS);
    return {
      file,
      domain,
      loaded: printed.exitCode === 0,
      pid: printed.exitCode === 0 ? pidIn(printed.stdout) : null,
      disabled: isDisabledIn(disabled.stdout, LABEL),
    };
  };
  return {
    name: 'launchd',
    file,
    env: place.env,
    planInstall: async () => planInstall(place, await look()),
    planUninstall: async () => planUninstall(await look()),
    planControl: async (control) => planControl(control, await look()),
    state: async () => {
      const { loaded, pid } = await look();
      const state = loaded ? (pid === null ? 'loaded, and no process runs' : 'active') : 'not loaded';
      return { state, pid, linger: null };
    },
  };
}

/** Of who sits at the screen; over ssh alone there may be none, and then the user's own. */
async function domainOf({ run, user }: Place): Promise<string> {
  const domains = [`gui/${user.uid}`, `user/${user.uid}`];
  const said: string[] = [];
  for (const domain of domains) {
    const { exitCode, stderr } = await run(['launchctl', 'print', domain], ASK_TIMEOUT_MS);
    if (exitCode === 0) return domain;
    said.push(`${domain}: ${printable(stderr.trim())} (exit status ${exitCode})`);
  }
  throw new LionError(
    'unavailable',
    `launchd does not answer for user ${user.name} (${said.join('; ')}); log in at the screen or over ssh as ${user.name} itself, not by su or sudo. Nothing was changed`,
  );
}

function planInstall(place: Place, agent: Agent): Plan {
  const { file, domain, loaded, pid, disabled } = agent;
  const before = installedDefinition(file);
  const { values, notes } = captureValues(place.call, place.home);
  const content = renderPlist(templateText(place.call.program.main, `launchd/${PLIST}`), values);
  const steps: Step[] = [];
  const written = before !== content;
  if (written) {
    const afterUndo = loaded && before !== null ? [bootstrapCommand(agent)] : [];
    steps.push({ kind: 'write', path: file, content, before, afterUndo });
  }
  const comesBack = written || !loaded || pid === null || disabled;
  if (loaded && comesBack) steps.push(...leaving(agent));
  if (disabled)
    steps.push({
      kind: 'run',
      command: ['launchctl', 'enable', `${domain}/${LABEL}`],
      timeoutMs: ASK_TIMEOUT_MS,
    });
  if (comesBack) steps.push(...coming(agent, 'undone'));
  return {
    result: steps.length === 0 ? 'unchanged' : before === null ? 'installed' : 'healed',
    steps,
    notes: [...notes, domainNote(domain)],
  };
}

function domainNote(domain: string): string {
  return domain.startsWith('gui/')
    ? 'the agent runs while you are logged in at the screen, and starts with each log-in; runs go on without it'
    : 'nobody is logged in at the screen: the agent runs for this user until the next start of the machine, and then from the next log-in on';
}

function planUninstall(agent: Agent): Plan {
  const before = installedDefinition(agent.file);
  if (before === null && !agent.loaded)
    return { result: 'unchanged', steps: [], notes: ['no service is installed'] };
  const steps: Step[] = agent.loaded ? leaving(agent) : [];
  if (before !== null) steps.push({ kind: 'remove', path: agent.file });
  return {
    result: 'uninstalled',
    steps,
    notes: ['runs go on, and the store with its configuration and log stays'],
  };
}

function planControl(control: Control, agent: Agent): Plan {
  if (installedDefinition(agent.file) === null) throw notInstalled();
  const plan = (result: Plan['result'], steps: readonly Step[]): Plan => ({ result, steps, notes: [] });
  if (control === 'stop') return agent.loaded ? plan('stopped', leaving(agent)) : plan('unchanged', []);
  if (control === 'start' && agent.pid !== null) return plan('unchanged', []);
  const steps = [...(agent.loaded ? leaving(agent) : []), ...coming(agent, 'left')];
  return plan(control === 'start' ? 'started' : 'restarted', steps);
}

function leaving({ domain }: Agent): Step[] {
  const service = `${domain}/${LABEL}`;
  return [
    {
      kind: 'run',
      command: ['launchctl', 'bootout', service],
      timeoutMs: CHANGE_TIMEOUT_MS,
      fine: [NO_SUCH_PROCESS, IN_PROGRESS],
    },
    {
      kind: 'check',
      command: ['launchctl', 'print', service],
      timeoutMs: ASK_TIMEOUT_MS,
      what: `${service} is gone`,
      holds: (exitCode) => exitCode !== 0,
      withinMs: CHANGE_TIMEOUT_MS,
    },
  ];
}

function bootstrapCommand({ domain, file }: Agent): Command {
  return ['launchctl', 'bootstrap', domain, file];
}

/** @param failed what becomes of an agent that is loaded and does not run */
function coming(agent: Agent, failed: 'undone' | 'left'): Step[] {
  const service = `${agent.domain}/${LABEL}`;
  const command = bootstrapCommand(agent);
  return [
    {
      kind: 'run',
      command,
      timeoutMs: CHANGE_TIMEOUT_MS,
      again: STILL_LEAVING,
      cure: `the service is not loaded now; by hand: ${commandText(command)}`,
    },
    {
      kind: 'check',
      command: ['launchctl', 'print', service],
      timeoutMs: ASK_TIMEOUT_MS,
      what: `${service} has a process`,
      holds: (exitCode, stdout) => exitCode === 0 && pidIn(stdout) !== null,
      withinMs: 10_000,
      cure: 'see lion daemon logs',
      ...(failed === 'undone' ? { undo: ['launchctl', 'bootout', service] as const } : {}),
    },
  ];
}
