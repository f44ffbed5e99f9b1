import { describe, expect, it } from 'vitest';
import { type Engine, openEngine } from '../../shared/engine.ts';
import { JsonNumber as EngineNumber } from '../../shared/json/value.ts';
import { cacheLifecycleEnd } from '../../shared/run/cache-end.ts';
import { markTerminal } from '../../shared/run/mark-terminal.ts';
import { reapOrphan } from '../../shared/run/reap.ts';
import { inWorld } from '../support/in-world.ts';
import { JsonNumber } from '../support/json-tree.ts';
import { type Identity, type LaidRun, layRun } from '../support/lay-run.ts';
import { type PythonWriter, startPythonWriter } from '../support/python-writer.ts';
import { faultsOfHistory } from './race.ts';

/** The writers that can meet on one record, each once, in every order there is. */
const STEPS = ['hook', 'reap', 'cache', 'notice result', 'pid attachment'] as const;
type Step = (typeof STEPS)[number];

const GONE: Identity = {
  pid: new JsonNumber('1999999999'),
  pid_create_time: new JsonNumber('1790000000.25'),
  pgid: new JsonNumber('1999999999'),
};
const ATTACHED = { pid: 1_999_999_998, pid_create_time: 1_790_000_001.25, pgid: 1_999_999_998 };
const RESULT = {
  attempted: true,
  ok: true,
  exit_code: 0,
  error: null,
  failure_class: null,
  command: 'python',
};
const LOCK_WAIT_MS = 5_000;

/** What a record must say, as far as the steps taken so far tell. */
interface Model {
  endedBy: 'hook' | 'reap' | 'cache' | null;
  isAttached: boolean;
  hasResult: boolean;
  /** The hook reported after an observer had ended the run. */
  isLate: boolean;
}

const NOTHING_YET: Model = { endedBy: null, isAttached: false, hasResult: false, isLate: false };

/** First writer of an end wins; a reap is fenced by the identity that was probed; nothing else is undone. */
function after(model: Model, step: Step): Model {
  switch (step) {
    case 'hook':
      return model.endedBy === null
        ? { ...model, endedBy: 'hook' }
        : { ...model, isLate: model.endedBy === 'reap' };
    case 'reap':
      return model.endedBy === null && !model.isAttached ? { ...model, endedBy: 'reap' } : model;
    case 'cache':
      return model.endedBy === null ? { ...model, endedBy: 'cache' } : model;
    case 'notice result':
      return { ...model, hasResult: true };
    case 'pid attachment':
      return { ...model, isAttached: true };
  }
}

interface Actors {
  engine: Engine;
  python: PythonWriter;
}

async function take(step: Step, run: LaidRun, { engine, python }: Actors): Promise<void> {
  switch (step) {
    case 'hook':
      await markTerminal(engine, run.runId, {
        ...{
          status: 'completed',
          reasonCode: 'run.completed.ok',
          exitCode: 0,
          exitSignal: null,
          cause: null,
        },
        owed: { owed: true },
      });
      return;
    case 'reap':
      await reapOrphan(engine, run.runId, {
        finding: 'pid_absent',
        observedAt: '2026-08-01T12:10:00.000001+00:00',
        probed: {
          pid: new EngineNumber(GONE.pid.text),
          createTime: new EngineNumber(GONE.pid_create_time.text),
        },
        ...{ survivors: [], owed: { owed: true }, lockWaitMs: LOCK_WAIT_MS },
      });
      return;
    case 'cache':
      await cacheLifecycleEnd(
        engine,
        run.runId,
        { status: 'cancelled', reasonCode: 'run.x.y', endedAt: '2026-08-01T12:05:00.25+00:00' },
        { at: '2026-08-01T12:11:00.000001+00:00', owed: { owed: true }, lockWaitMs: LOCK_WAIT_MS },
      );
      return;
    case 'notice result':
      await python.ask({ do: 'merge', run_dir: run.dir, set: { notify_delivery: RESULT } });
      return;
    case 'pid attachment':
      await python.ask({ do: 'merge', run_dir: run.dir, set: { ...ATTACHED, spawn_state: 'started' } });
      return;
  }
}

const SOURCES = { hook: 'cli_terminal_hook', reap: 'mcp_orphan_reaper', cache: 'lifecycle_cache' };

function expectAsModelled(run: LaidRun, model: Model): void {
  const record = JSON.parse(run.text());
  expect(record.terminal_source).toBe(model.endedBy === null ? undefined : SOURCES[model.endedBy]);
  expect(record.finished_at === null).toBe(model.endedBy === null);
  expect('late_report' in record).toBe(model.isLate);
  expect(record.pid).toBe(model.isAttached ? ATTACHED.pid : Number(GONE.pid.text));
  if (model.hasResult) expect(record.notify_delivery).toEqual(RESULT);
  else if (model.endedBy !== null) expect(record.notify_delivery).toEqual({ attempted: false, owed: true });
}

describe('every order of the writers of one record', () => {
  const orders = permutations(STEPS);

  it.each(STEPS)(
    'that starts with %s keeps the first end, and all that does not conflict with it',
    async (first) => {
      await inWorld(async (world) => {
        const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
        const python = await startPythonWriter();
        world.onDispose(python.stop);
        const starting = orders.filter((order) => order[0] === first);
        expect(starting).toHaveLength(24);
        for (const [index, order] of starting.entries()) {
          const run = layRun(world, `20260801T1200${String(index).padStart(2, '0')}-aaaaaa`, GONE);
          const texts = [run.text()];
          let model = NOTHING_YET;
          for (const step of order) {
            model = after(model, step);
            await take(step, run, { engine, python });
            texts.push(run.text());
            expectAsModelled(run, model);
          }
          expect({ order, faults: faultsOfHistory(texts) }).toEqual({ order, faults: [] });
          expect(model.endedBy).not.toBeNull();
        }
      });
    },
  );
});

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}
