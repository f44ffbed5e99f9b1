import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Aim } from '../support/aim.ts';
import { askKill, type KillAnswer } from '../support/ask-kill.ts';
import { startEndingRun } from '../support/ending-run.ts';
import { inWorld } from '../support/in-world.ts';
import { type Json, type JsonObject, parseJsonObject } from '../support/json-tree.ts';
import { type PythonWriter, startPythonWriter } from '../support/python-writer.ts';
import type { World } from '../support/world.ts';

const ROUNDS_A_WRITER = 50;

/** The natural end comes at a random moment of so long around the one aimed at. */
const SPREAD_MS = 100;

/** What an end is made of: no writer may change any of it once it stands. */
const END = ['status', 'finished_at', 'finished_at_precision', 'outcome', 'reason_code', 'terminal_source'];

interface Round {
  answer: KillAnswer;
  record: JsonObject;
  /** Every text of the record that a reader could see, in order. */
  texts: string[];
}

/** A kill, and the run's own end so long after the kill was started; before it where that is negative. */
async function race(
  world: World,
  witness: PythonWriter,
  writer: 'hook' | 'python',
  endInMs: number,
): Promise<Round> {
  const run = await startEndingRun(world, writer);
  await witness.ask({ do: 'watch', run_dir: run.dir });
  run.endIn(Math.max(0, endInMs));
  await sleep(Math.max(0, -endInMs));
  const answer = await askKill(world, run.runId, ['--grace', '2']);
  await run.ended;
  const texts = await witness.ask<string[]>({ do: 'unwatch', run_dir: run.dir });
  return { answer, record: run.record(), texts };
}

/** Everything in which a round is not: one end, from one source, and an answer that says what is on disk. */
function problemsOf({ answer, record, texts }: Round): string[] {
  const ends = new Set(texts.map(parseJsonObject).filter(hasEnd).map(endOf));
  const problems = ends.size === 1 ? [] : [`${ends.size} ends were seen: ${[...ends].join(' ')}`];
  if (!ends.has(endOf(record))) problems.push(`the end on disk was not the one seen: ${endOf(record)}`);
  const told = JSON.stringify(answer);
  const byKill = record.get('terminal_source') === 'mcp_kill';
  if (!byKill && record.get('terminal_source') !== 'cli_terminal_hook')
    problems.push(`ended by ${String(record.get('terminal_source'))}`);
  if (record.get('status') !== (byKill ? 'killed' : 'completed')) problems.push('a status of another source');
  if (answer.already_ended === byKill) problems.push(`on disk ended by kill: ${byKill}; ${told}`);
  if (byKill && !answer.killed) problems.push(`recorded as a kill that signalled nothing: ${told}`);
  if (answer.killed !== (answer.reason_code === 'signalled')) problems.push(`killed for no reason: ${told}`);
  if (record.has('group_reaped_at') !== (answer.killed && !byKill))
    problems.push(`cleared away beside the end: ${record.has('group_reaped_at')}; ${told}`);
  return problems;
}

function hasEnd(record: JsonObject): boolean {
  return (record.get('finished_at') ?? null) !== null;
}

function endOf(record: JsonObject): string {
  return JSON.stringify(END.map((key): Json => record.get(key) ?? null));
}

describe.concurrent('a kill around the natural end of a run (case 30)', () => {
  for (const writer of ['hook', 'python'] as const) {
    it(`leaves one end from one source, and tells the one on disk: the end written by ${writer}`, () =>
      inWorld(async (world) => {
        const witness = await startPythonWriter();
        world.onDispose(witness.stop);
        const problems: string[] = [];
        const won = { kill: 0, run: 0 };
        const aim = new Aim(writer === 'hook' ? 0 : 150, 10);
        for (let round = 0; round < ROUNDS_A_WRITER; round += 1) {
          const done = await race(world, witness, writer, aim.atMs + (Math.random() - 0.5) * SPREAD_MS);
          problems.push(...problemsOf(done).map((problem) => `round ${round}: ${problem}`));
          const byKill = done.record.get('terminal_source') === 'mcp_kill';
          won[byKill ? 'kill' : 'run'] += 1;
          aim.was(byKill ? 'late' : 'early');
        }
        expect(problems).toEqual([]);
        expect(Math.min(won.kill, won.run)).toBeGreaterThan(5);
      }));
  }
});
