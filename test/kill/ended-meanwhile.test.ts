import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { openEngine } from '../../shared/engine.ts';
import { type KillResult, killRun } from '../../shared/kill/kill.ts';
import { linuxGroups } from '../../shared/process/linux-groups.ts';
import { inWorld } from '../support/in-world.ts';
import { identityOf, type LaidRun, layRun } from '../support/lay-run.ts';
import { newRunId } from '../support/new-run-id.ts';
import type { Window } from '../support/pid-reuse.ts';
import { startSleeper } from '../support/processes.ts';
import { writePythonJson } from '../support/python-json.ts';
import { replacingGroups } from '../support/replacing-groups.ts';

const END: readonly [string, string][] = [
  ['status', 'completed'],
  ['finished_at', '2026-08-01T12:05:00.500000+00:00'],
  ['finished_at_precision', 'observed'],
  ['terminal_source', 'cli_terminal_hook'],
];

/** As a run does that is done: its end first, then it is gone. */
function endByItself(run: LaidRun, pid: number): void {
  const temporary = `${run.recordFile}.tmp`;
  writeFileSync(temporary, writePythonJson(new Map([...run.record(), ...END])));
  renameSync(temporary, run.recordFile);
  process.kill(pid, 'SIGKILL');
  while (!/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
}

/** A kill in this process, in this window of which the run ends by itself. */
function killEndingIn(window: Window): Promise<{ result: KillResult; record: Record<string, unknown> }> {
  return inWorld(async (world) => {
    const runId = newRunId();
    const sleeper = await startSleeper(runId);
    world.onDispose(sleeper.stop);
    const run = layRun(world, runId, identityOf(sleeper));
    const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
    const groups = replacingGroups(linuxGroups, window, sleeper.pid, () => endByItself(run, sleeper.pid));
    const request = { signal: constants.signals.SIGTERM, graceMs: 1_000, force: false };
    const result = await killRun(engine, groups, runId, request);
    return { result, record: Object.fromEntries(run.record()) };
  });
}

describe.skipIf(process.platform !== 'linux')('a run that ends by itself while it is being killed', () => {
  const windows: Window[] = [
    'within the first look',
    'before the pin',
    'between the pin and the second look',
    'within the second look',
    'between the second look and the signal',
    'after the signal',
  ];
  for (const window of windows) {
    it(`keeps its end, and the answer says that it was there: ${window}`, async () => {
      const { result, record } = await killEndingIn(window);
      expect(record).toMatchObject(Object.fromEntries(END));
      expect('group_reaped_at' in record).toBe(result.killed);
      expect(result.alreadyEnded).toBe(true);
      expect(result.remaining).toEqual([]);
    });
  }
});
