import { setTimeout as sleep } from 'node:timers/promises';
import { topLevelTexts } from '../support/json-tree.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { runLion } from '../support/lion.ts';
import { type PythonWriter, startPythonWriter } from '../support/python-writer.ts';
import type { World } from '../support/world.ts';

/** The Python processes of one lane of races: two that write, one that looks on, one that holds the lock. */
export interface Lane {
  reaper: PythonWriter;
  merger: PythonWriter;
  watcher: PythonWriter;
  holder: PythonWriter;
  /** By this much an actor may come later than the others; drawn by lot for each. */
  latenessMs: number;
}

/** In half of the races later than the others: for the one that would be first otherwise. */
export async function late<T>(lane: Lane, start: () => Promise<T>): Promise<T> {
  if (Math.random() < 0.5) await sleep(lateness_s(lane) * 1000);
  return start();
}

export const lateness_s = (lane: Lane): number => (Math.random() * lane.latenessMs) / 1000;

async function startLane(world: World, latenessMs: number): Promise<Lane> {
  const start = async (): Promise<PythonWriter> => {
    const writer = await startPythonWriter();
    world.onDispose(writer.stop);
    return writer;
  };
  const [reaper, merger, watcher, holder] = await Promise.all([start(), start(), start(), start()]);
  return { reaper, merger, watcher, holder, latenessMs };
}

/** As many rounds, two at a time; each returns what was wrong in it. */
export async function rounds(
  world: World,
  count: number,
  round: (lane: Lane, index: number) => Promise<string[]>,
): Promise<string[]> {
  const latenessMs = await usualLateness(world);
  const lanes = await Promise.all([startLane(world, latenessMs), startLane(world, latenessMs)]);
  const faults: string[] = [];
  let next = 0;
  const run = async (lane: Lane): Promise<void> => {
    while (next < count) {
      const index = next++;
      faults.push(...(await round(lane, index)).map((fault) => `round ${index}: ${fault}`));
    }
  };
  await Promise.all(lanes.map(run));
  return faults;
}

/** Twice what a call takes: a `lion` started now comes to the lock before that as often as after. */
async function usualLateness(world: World): Promise<number> {
  const calls = [1, 2].map(() => runLion(['job', 'list', '--machine'], { env: world.env, cwd: world.cwd }));
  return 2 * Math.max(...(await Promise.all(calls)).map((call) => call.ms));
}

/** A status of ours waits a second for the lock; one that is held longer than this would be refused. */
const LONGEST_HOLD_MS = 900;

type Contenders<T extends readonly unknown[]> = { readonly [K in keyof T]: () => Promise<T[K]> };

/**
 * Starts the contenders together and keeps every text of the record that could be seen meanwhile. In half of
 * the races the lock is held until some of them have come to it, so that they meet at its release. In the first
 * races each contender in turn is done before the others start, so that each has been the first for certain.
 */
export async function race<T extends readonly unknown[]>(
  lane: Lane,
  run: LaidRun,
  round: number,
  contenders: Contenders<T>,
): Promise<{ answers: T; texts: string[] }> {
  await lane.watcher.ask({ do: 'watch', run_dir: run.dir });
  const starts = contenders as readonly (() => Promise<unknown>)[];
  const first = starts[round];
  const answers = await (first === undefined ? together(lane, run, starts) : oneFirst(starts, first));
  const texts = await lane.watcher.ask<string[]>({ do: 'unwatch', run_dir: run.dir });
  return { answers: answers as unknown as T, texts };
}

async function oneFirst(
  starts: readonly (() => Promise<unknown>)[],
  first: () => Promise<unknown>,
): Promise<unknown[]> {
  const answer = await first();
  return Promise.all(starts.map((start) => (start === first ? answer : start())));
}

async function together(
  lane: Lane,
  run: LaidRun,
  starts: readonly (() => Promise<unknown>)[],
): Promise<unknown[]> {
  const isHeld = Math.random() < 0.5;
  if (isHeld) await lane.holder.ask({ do: 'hold', run_dirs: [run.dir] });
  const contest = Promise.all(starts.map((start) => start()));
  if (isHeld) {
    await sleep(Math.random() * Math.min(lane.latenessMs, LONGEST_HOLD_MS));
    await lane.holder.ask({ do: 'release' });
  }
  return contest;
}

const TERMINAL = ['status', 'finished_at', 'finished_at_precision', 'outcome', 'reason_code'].concat(
  'terminal_source',
  'terminal_evidence',
  'cli_status',
  'exit_code',
);

/** No writer of a race means to change these. */
const STEADY = ['run_id', 'kind', 'argv', 'cwd', 'submit_cwd', 'label', 'submitted_at', 'log'].concat(
  'notify_command',
  '9007199254740993',
);

/** What was seen of a record over a race that its writers may not do to each other. */
export function faultsOfHistory(texts: readonly string[]): string[] {
  const faults: string[] = [];
  const seen = texts.map(topLevelTexts);
  const first = seen[0] ?? new Map();
  for (const members of seen) {
    for (const key of STEADY) {
      if (members.get(key) !== first.get(key)) faults.push(`${key} became ${members.get(key)}`);
    }
  }
  const ended = seen.filter((members) => hasEnd(members));
  if (ended.length < seen.length && hasEnd(first)) faults.push('an end was taken back');
  for (const members of ended) {
    for (const key of TERMINAL) {
      const [was, is] = [ended[0]?.get(key), members.get(key)];
      if (was !== is) faults.push(`the first end said ${key} ${was}, and then ${is}`);
    }
  }
  const afterFirst = seen.slice(seen.indexOf(ended[0] ?? first));
  if (ended.length > 0 && afterFirst.some((members) => !hasEnd(members)))
    faults.push('an end was taken back');
  return faults;
}

function hasEnd(members: ReadonlyMap<string, string>): boolean {
  return (members.get('finished_at') ?? 'null') !== 'null';
}
