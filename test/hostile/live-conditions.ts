/** In how many ways a run can live, and what its record can say of it. */
import { readlinkSync } from 'node:fs';
import { linuxProcesses } from '../../shared/process/linux.ts';
import { type Json, JsonNumber } from '../support/json-tree.ts';
import { goneIdentity, type Identity, identityOf } from '../support/lay-run.ts';
import {
  type Living,
  startLeaderless,
  startSleep,
  startStopped,
  startUndumpable,
  stopBySignal,
} from '../support/live-runs.ts';
import { freeNumber, startNested } from '../support/nested-runs.ts';
import type { StartedProcess } from '../support/processes.ts';
import { pythonFloat } from '../support/python-json.ts';
import { waitUntil } from '../support/wait-until.ts';

export type Members = Readonly<Record<string, Json>>;

export interface Lived {
  members: Members;
  stop: () => Promise<void>;
}

export interface LiveCondition {
  name: string;
  /** Two conditions in one. */
  pair: boolean;
  /** `pid_identity` where nothing is odd about where root judges from. */
  seenByRoot: string;
  /** The same where the run's own user judges, who may not see as much; null where kernels differ. */
  seenByOwner: string | null;
  start: (living: Living) => Promise<Lived>;
}

export const LIVE_CONDITIONS: readonly LiveCondition[] = [
  single('lives as a Python writer recorded it', 'confirmed', (living) => asRecorded(startSleep(living))),
  single('has its ticks and origin recorded', 'confirmed', (living) =>
    asRecorded(startSleep(living), withTicks),
  ),
  single('has no start time recorded', 'not_recorded', (living) =>
    asRecorded(startSleep(living), withoutCreateTime),
  ),
  single('was recorded before the clock was stepped', 'mark_contradicts', (living) =>
    asRecorded(startSleep(living), beforeStep),
  ),
  single('is stopped by a signal', 'confirmed', (living) => asRecorded(startStopped(living))),
  single('has an environment that its user cannot read', 'confirmed', (living) =>
    asRecorded(startUndumpable(living)),
  ),
  single('lives on in a thread after its main thread', 'confirmed', (living) =>
    asRecorded(startLeaderless(living)),
  ),
  single('lives in an inner namespace, its number free here', 'in_other_namespace', (living) =>
    asRecorded(startNested(living, { number: freeNumber() })),
  ),
  single('lives in an inner namespace, its number held here', 'in_other_namespace', nestedOnHeld),
  single('lives on another host', 'other_host', () => elsewhere({ host_id: 'f0e1', boot_id: 'another' })),
  single('lives in a boot of a host without an id', 'other_host', () =>
    elsewhere({ host_id: null, boot_id: 'another' }),
  ),
  single('lives in another pid namespace of this boot', 'other_host', () =>
    elsewhere({ pid_namespace: new JsonNumber('4026599999') }),
  ),
  pair('ticks recorded, before a clock step', 'confirmed', (living) =>
    asRecorded(startSleep(living), withTicks, beforeStep),
  ),
  pair('stopped, recorded before a clock step', 'mark_contradicts', (living) =>
    asRecorded(startStopped(living), beforeStep),
  ),
  pair(
    'unreadable, recorded before a clock step',
    { root: 'mark_contradicts', owner: 'unreadable' },
    (living) => asRecorded(startUndumpable(living), beforeStep),
  ),
  pair(
    'in a thread only, recorded before a clock step',
    { root: 'mark_contradicts', owner: null },
    (living) => asRecorded(startLeaderless(living), beforeStep),
  ),
  pair('nested, unreadable', { root: 'in_other_namespace', owner: 'unreadable' }, (living) =>
    asRecorded(startNested(living, { number: freeNumber(), undumpable: true })),
  ),
  pair('unreadable, stopped', 'confirmed', async (living) => {
    const lived = await asRecorded(startUndumpable(living));
    await stopBySignal(lived.pid);
    return lived;
  }),
  pair('unreadable, ticks recorded, before a clock step', 'confirmed', (living) =>
    asRecorded(startUndumpable(living), withTicks, beforeStep),
  ),
  pair('in a thread only, ticks recorded', 'confirmed', (living) =>
    asRecorded(startLeaderless(living), withTicks),
  ),
  pair('nested, stopped', 'in_other_namespace', async (living) => {
    const lived = await asRecorded(startNested(living, { number: freeNumber() }));
    await stopBySignal(lived.pid);
    return lived;
  }),
  pair('nested, its origin recorded there', 'other_host', (living) =>
    asRecorded(startNested(living, { number: freeNumber() }), withOwnOrigin),
  ),
  pair('nested, recorded before a clock step', 'in_other_namespace', (living) =>
    asRecorded(startNested(living, { number: freeNumber() }), beforeStep),
  ),
];

/** Where we are, as a record says it. */
export function originHere(): Map<string, Json> {
  const { hostId, bootId, pidNamespace } = linuxProcesses.standpoint().origin;
  return new Map<string, Json>([
    ['host_id', hostId],
    ['boot_id', bootId],
    ['pid_namespace', new JsonNumber(String(pidNamespace))],
  ]);
}

type Seen = string | { root: string; owner: string | null };

function single(name: string, seen: Seen, start: LiveCondition['start']): LiveCondition {
  const [seenByRoot, seenByOwner] = typeof seen === 'string' ? [seen, seen] : [seen.root, seen.owner];
  return { name, pair: false, seenByRoot, seenByOwner, start };
}

function pair(name: string, seen: Seen, start: LiveCondition['start']): LiveCondition {
  return { ...single(name, seen, start), pair: true };
}

type Recorded = (started: StartedProcess) => Members;

/** A started process and its true identity on the record, changed by what else is recorded. */
export async function asRecorded(
  starting: Promise<StartedProcess & { recordedPid?: number }>,
  ...recorded: readonly Recorded[]
): Promise<Lived & { pid: number }> {
  const started = await starting;
  const pid = started.recordedPid ?? started.pid;
  const identity: Identity = identityOf({ ...started, pid });
  return {
    pid: started.pid,
    members: Object.assign({}, identity, ...recorded.map((more) => more(started))),
    stop: started.stop,
  };
}

export const withTicks: Recorded = ({ ticks }) => ({
  origin: originHere(),
  pid_start_ticks: new JsonNumber(String(ticks)),
});

export const beforeStep: Recorded = ({ createTime }) => ({
  pid_create_time: new JsonNumber(pythonFloat(createTime - 1)),
});

const withoutCreateTime: Recorded = () => ({ pid_create_time: null });

/** As a submitter in the run's own namespace records it. */
const withOwnOrigin: Recorded = ({ pid }) => {
  const inode = /\d+/.exec(readlinkSync(`/proc/${pid}/ns/pid`))?.[0] ?? '';
  return { origin: originHere().set('pid_namespace', new JsonNumber(inode)) };
};

async function nestedOnHeld(living: Living): Promise<Lived> {
  const holder = await startSleep({ ...living, mark: null });
  // Else their start times are too near to tell the one from the other.
  await waitUntil('the holder to be older', () => Date.now() / 1000 - holder.createTime > 1.5);
  const lived = await asRecorded(startNested(living, { number: holder.pid }));
  const stop = async () => {
    await lived.stop();
    await holder.stop();
  };
  return { ...lived, stop };
}

/** It lives where we cannot look: what we see of it is a number that is not its own here. */
async function elsewhere(named: Members): Promise<Lived> {
  const origin = new Map([...originHere(), ...Object.entries(named)]);
  return { members: { ...(await goneIdentity()), origin }, stop: async () => {} };
}
