/** ADR-0107, "Verify by" 1 and 2, through the built CLI with real processes. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { JsonNumber } from '../support/json-tree.ts';
import { goneIdentity, identityOf, layRun } from '../support/lay-run.ts';
import { startSleep, startUndumpable } from '../support/live-runs.ts';
import { askData } from '../support/machine.ts';
import { asUser, inMounts, type Layer, whyNoNamespaces } from '../support/namespaces.ts';
import { type StartedProcess, startZombie } from '../support/processes.ts';
import { rewrittenWithoutNeed } from '../support/record-compare.ts';
import { endOf, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import type { World } from '../support/world.ts';
import { beforeStep, type Members } from './live-conditions.ts';
import { lookAll } from './look-all.ts';
import { layOwned, namesIn } from './owned-store.ts';

const onLinux = describe.skipIf(process.platform !== 'linux');
const why = whyNoNamespaces();
const [OWNER, OTHER] = [54_341, 54_342];
const RUN = runIdOf(1);

async function keep(world: World, starting: Promise<StartedProcess>): Promise<StartedProcess> {
  const process = await starting;
  world.onDispose(process.stop);
  return process;
}

onLinux(
  'ADR-0107 Verify by 1: each of the three positive findings writes exactly one terminal transition',
  () => {
    it.each<[string, (world: World) => Promise<Members>]>([
      ['pid_absent', () => goneIdentity()],
      ['disappeared_during_probe', async (world) => identityOf(await keep(world, startZombie(RUN)))],
      [
        'pid_recycled',
        async (world) => {
          const holder = await keep(world, startSleep({ mark: null }));
          return identityOf({ ...holder, createTime: holder.createTime - 9 });
        },
      ],
    ])('ADR-0107 Verify by 1: %s', async (finding, make) => {
      await inWorld(async (world) => {
        const notifier = makeNotifier(world, 'tell');
        const run = layRun(world, RUN, { ...(await make(world)), notify_command: notifier.command });
        const before = run.text();
        const from = Date.now();
        const data = await askData(world, ['job', 'status', RUN]);
        expect(data).toMatchObject({
          ...REAPED,
          terminal: true,
          possibly_orphaned: false,
          terminal_evidence: { kind: 'process_identity_conclusively_gone', finding },
          refusal: null,
        });
        expect(Date.parse(data.finished_at)).toBeGreaterThanOrEqual(from - 1);
        expect(Date.parse(data.finished_at)).toBeLessThanOrEqual(Date.now());
        expect(endOf(run)).toEqual(REAPED);
        expect(rewrittenWithoutNeed(before, run.text())).toEqual([]);
        const ended = run.text();
        await lookAll(world, [RUN]);
        expect(run.text()).toBe(ended);
        expect(notifier.calls().map((call) => call.args)).toEqual([[RUN, 'exited', 'a label, café']]);
        expect(namesIn(run)).toEqual(['job.json']);
      });
    });
  },
);

const STARTED_THEN = { pid_create_time: new JsonNumber('1.5') };
/** `pid_identity` and what the record says; the process is gone where it names one. */
const INCONCLUSIVE: readonly (readonly [string, string | null, Members])[] = [
  ['no pid', 'unusable_pid', { pid: null }],
  ['a truth value for a pid', 'unusable_pid', { pid: true }],
  ['pid 0', 'unusable_pid', { pid: new JsonNumber('0') }],
  ['pid 1', 'unusable_pid', { pid: new JsonNumber('1') }],
  ['a negative pid', 'unusable_pid', { pid: new JsonNumber('-7') }],
  ['a pid with a fraction', 'unusable_pid', { pid: new JsonNumber('4194305.0') }],
  ['a pid past the type of the system', 'unusable_pid', { pid: new JsonNumber('4294967299') }],
  ['text for a pid', 'unusable_pid', { pid: '4194305' }],
  ['a spawn still preparing', null, { spawn_state: 'preparing' }],
  ['a spawn in another state', null, { spawn_state: 'submitted' }],
  ['no spawn state', null, { spawn_state: null }],
];

onLinux('ADR-0107 Verify by 2: what is not conclusive stays open and is not announced', () => {
  it('ADR-0107 Verify by 2: unusable pids, and spawns that are not said to have started', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'tell');
      const gone = await goneIdentity();
      const runs = INCONCLUSIVE.map(([, , members], at) => {
        const identity = 'pid' in members ? STARTED_THEN : gone;
        return layRun(world, runIdOf(at), { ...identity, ...members, notify_command: notifier.command });
      });
      const before = runs.map((run) => run.text());
      await lookAll(
        world,
        runs.map(({ runId }) => runId),
      );
      for (const [at, [what, identity]] of INCONCLUSIVE.entries()) {
        const data = await askData(world, ['job', 'status', runIdOf(at)]);
        expect(data, what).toMatchObject({
          terminal: false,
          outcome: null,
          finished_at: null,
          terminal_source: null,
        });
        expect(data.pid_identity, what).toBe(identity);
        if (identity !== null) expect(data.liveness_conclusion, what).toBe('unknown');
      }
      expect(runs.map((run) => run.text())).toEqual(before);
      expect(notifier.calls()).toEqual([]);
    });
  });
});

describe.skipIf(why !== null)(
  `ADR-0107 Verify by 2: denied access${why === null ? '' : ` (skipped: ${why})`}`,
  () => {
    type Denied = readonly [string, string, Start, (world: World, pid: number) => Layer];
    type Start = (mark: string) => Promise<StartedProcess>;
    const started: Start = (mark) => startSleep({ mark, uid: OWNER });
    const CASES: readonly Denied[] = [
      ['the start time of the process', 'unreadable', started, throughMaskedStat],
      [
        'the environment of a process that may be the run, to its own user',
        'unreadable',
        (mark) => startUndumpable({ mark, uid: OWNER }),
        () => asUser(OWNER),
      ],
      [
        'the environment of a process that may be the run, to another',
        'unreadable',
        started,
        () => asUser(OTHER),
      ],
    ];

    it.each(CASES)('ADR-0107 Verify by 2: denied: %s', async (_, identity, start, layerOf) => {
      await inWorld(async (world) => {
        const process = await keep(world, start(RUN));
        const notifier = makeNotifier(world, 'tell');
        const members = { ...identityOf(process), ...beforeStep(process), notify_command: notifier.command };
        const run = layOwned(world, RUN, members, OWNER);
        const before = run.text();
        const through = layerOf(world, process.pid);
        await lookAll(world, [RUN], through);
        const data = await askData(world, ['job', 'status', RUN], { through });
        expect(data).toMatchObject({
          terminal: false,
          liveness_conclusion: 'unknown',
          pid_identity: identity,
        });
        expect(run.text()).toBe(before);
        expect(notifier.calls()).toEqual([]);
      });
    });

    function throughMaskedStat(world: World, pid: number): Layer {
      const mask = join(world.work, 'mask');
      writeFileSync(mask, '');
      chmodSync(mask, 0);
      return [...inMounts('mount --bind "$1" "$2"', [mask, `/proc/${pid}/stat`]), ...asUser(OWNER)];
    }
  },
);
