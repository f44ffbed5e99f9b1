/**
 * A dead run is never lost: every way of being gone is found by every verb, ended once, and attributed. The
 * record decides nothing here; real processes, or their absence, do.
 */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { JsonNumber } from '../support/json-tree.ts';
import { goneIdentity, identityOf, type LaidRun, layRun } from '../support/lay-run.ts';
import { startSleep, startThreaded } from '../support/live-runs.ts';
import { askData } from '../support/machine.ts';
import { asUser, type Layer, whyNoNamespaces, withProc, withSteppedClock } from '../support/namespaces.ts';
import { startZombie } from '../support/processes.ts';
import { pythonFloat } from '../support/python-json.ts';
import { endOf, REAPED } from '../support/runs-of-all-sorts.ts';
import type { World } from '../support/world.ts';
import { startZombieWithChildren } from '../support/zombies.ts';
import { type Members, originHere } from './live-conditions.ts';
import { layOwned } from './owned-store.ts';

type Finding = 'pid_absent' | 'disappeared_during_probe' | 'pid_recycled';
const IDENTITY: Readonly<Record<Finding, string | null>> = {
  pid_absent: null,
  disappeared_during_probe: 'gone',
  pid_recycled: 'recycled',
};

interface Dead {
  members: Members;
  survivors?: readonly number[];
}

const RUN = '20260101T000000-0dead0';
const EARLIER_BOOT = new Map([...originHere(), ['boot_id', '11111111-0000-4000-8000-000000000000']]);
const hasHostId = typeof originHere().get('host_id') === 'string';

/** How a run can be gone, what is found, and a way to make it so; what it starts ends with the world. */
const WAYS: readonly (readonly [string, Finding, (world: World) => Promise<Dead>])[] = [
  ['its process is gone', 'pid_absent', async () => ({ members: await goneIdentity() })],
  [
    'its process is gone, and it had no start time on the record',
    'pid_absent',
    async () => ({ members: { ...(await goneIdentity()), pid_create_time: null } }),
  ],
  ['its number is held by a process without a mark', 'pid_recycled', (world) => heldBy(world, null)],
  [
    "its number is held by another run's process",
    'pid_recycled',
    (world) => heldBy(world, '20260101T000000-0dead1'),
  ],
  [
    'its number is held by a process with other ticks',
    'pid_recycled',
    async (world) => {
      const { members } = await heldBy(world, null);
      return { members: { ...members, origin: originHere(), pid_start_ticks: new JsonNumber('7') } };
    },
  ],
  ['its number is that of a thread of another process', 'pid_recycled', heldByThread],
  ...(hasHostId ? waysOfAnEarlierBoot() : []),
  [
    'its process is a zombie that nobody collects',
    'disappeared_during_probe',
    async (world) => ({ members: identityOf(await keep(world, startZombie(RUN))) }),
  ],
  [
    'its process is a zombie and what it started lives on',
    'disappeared_during_probe',
    async (world) => {
      const leader = await keep(world, startZombieWithChildren(RUN, 2));
      return { members: identityOf(leader), survivors: leader.members };
    },
  ],
];

function waysOfAnEarlierBoot(): typeof WAYS {
  return [
    [
      'it ran before the machine was started anew',
      'pid_absent',
      async () => ({ members: { ...(await goneIdentity()), origin: EARLIER_BOOT } }),
    ],
    [
      'it ran before the machine was started anew, and its number and start time are held by another now',
      'pid_recycled',
      async (world) => {
        const stranger = await keep(world, startSleep({ mark: null }));
        return { members: { ...identityOf(stranger), origin: EARLIER_BOOT } };
      },
    ],
  ];
}

async function keep<T extends { stop: () => Promise<void> }>(world: World, starting: Promise<T>): Promise<T> {
  const process = await starting;
  world.onDispose(process.stop);
  return process;
}

async function heldBy(world: World, mark: string | null): Promise<Dead> {
  const holder = await keep(world, startSleep({ mark }));
  return { members: identityOf({ ...holder, createTime: holder.createTime - 9 }) };
}

async function heldByThread(world: World): Promise<Dead> {
  const process = await keep(world, startThreaded({ mark: null }));
  const thread = readdirSync(`/proc/${process.pid}/task`).find((task) => task !== String(process.pid));
  const identity = identityOf({ ...process, pid: Number(thread) });
  return { members: { ...identity, pid_create_time: new JsonNumber(pythonFloat(process.createTime - 9)) } };
}

type Row = Record<string, unknown>;
/** Each verb, and where its answer tells of the run. */
const VERBS: readonly (readonly [string, (data: { jobs: Row[]; runs: Row[] } & Row) => Row | undefined])[] = [
  [`status ${RUN}`, (data) => data],
  ['list', (data) => data.jobs[0]],
  [`wait ${RUN} --max-wait 0`, (data) => data.runs[0]],
];

const askVerb = (world: World, verb: string) => askData(world, ['job', ...verb.split(' ')]);

function evidenceOf(run: LaidRun): unknown {
  const evidence = run.record().get('terminal_evidence');
  return evidence instanceof Map ? Object.fromEntries(evidence) : evidence;
}

const numbers = (list: unknown): number[] =>
  (Array.isArray(list) ? list : [])
    .map((item) => Number(item instanceof JsonNumber ? item.text : item))
    .sort();

describe.skipIf(process.platform !== 'linux')('a dead run is found', () => {
  for (const [way, finding, make] of WAYS)
    it.each(VERBS)(`where ${way}, by %s, and ended once`, async (verb, rowIn) => {
      await inWorld(async (world) => {
        const { members, survivors = [] } = await make(world);
        const run = layRun(world, RUN, members);
        const row = rowIn(await askVerb(world, verb));
        expect(row).toMatchObject({ terminal: true, outcome: 'indeterminate', status: 'exited' });
        expect(numbers(row?.survivors)).toEqual([...survivors].sort());
        expect(endOf(run)).toEqual(REAPED);
        expect(evidenceOf(run)).toEqual({ kind: 'process_identity_conclusively_gone', finding });
        expect(numbers(run.record().get('survivors'))).toEqual([...survivors].sort());
        if (verb.startsWith('status')) expect(row?.pid_identity).toBe(IDENTITY[finding]);
        const ended = run.text();
        expect(await askVerb(world, 'list')).toMatchObject({
          jobs: [{ terminal: true, outcome: 'indeterminate' }],
        });
        expect(run.text()).toBe(ended);
      });
    });
});

const why = whyNoNamespaces();
const [OWNER, OTHER] = [54_331, 54_332];

describe.skipIf(why !== null)(
  `a dead run is found from odd places${why === null ? '' : ` (skipped: ${why})`}`,
  () => {
    it.each<[string, (world: World) => Layer]>([
      ['as another user who may write', () => asUser(OTHER)],
      [
        'by its own user where other processes are hidden',
        () => [...withProc('hidepid=2'), ...asUser(OWNER)],
      ],
      ['after the clock was stepped back by a day', (world) => withSteppedClock(world.work, -86_400)],
    ])('%s', async (_, layerOf) => {
      await inWorld(async (world) => {
        const run = layOwned(world, RUN, await goneIdentity(), OWNER);
        const through = [...layerOf(world)];
        expect(await askData(world, ['job', 'status', RUN], { through })).toMatchObject({ terminal: true });
        expect(endOf(run)).toEqual(REAPED);
      });
    });
  },
);
