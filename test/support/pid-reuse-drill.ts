/**
 * Runs whose process is ended and whose number is given to a stranger while a kill is under way. A program of
 * its own, for a private pid namespace (`runInPidNamespace`):
 *
 *   ROUNDS cli              by `lion job kill`, at a random moment before, during and after it
 *   ROUNDS WHOSE WINDOW     by `killRun` in this process, in exactly this window of it
 *
 * Prints one JSON object: a `Tally`.
 */
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Engine, openEngine } from '../../shared/engine.ts';
import { killRun } from '../../shared/kill/kill.ts';
import { linuxGroups } from '../../shared/process/linux-groups.ts';
import { Aim } from './aim.ts';
import { askKill } from './ask-kill.ts';
import { inWorld } from './in-world.ts';
import { type Json, JsonNumber } from './json-tree.ts';
import { identityOf, type LaidRun, layRun } from './lay-run.ts';
import { newRunId } from './new-run-id.ts';
import { type PidForge, startPidForge } from './pid-forge.ts';
import type { Tally, Whose, Window } from './pid-reuse.ts';
import { replacingGroups } from './replacing-groups.ts';
import { startTimeOf } from './start-time.ts';
import type { World } from './world.ts';

/** So old when it is replaced, a run is told from its stranger by its start time; a young one by its start tick. */
const AGE_MS = 250;
const YOUNG_MS = 30;

interface Round extends LaidRun {
  /** The name in the forge of what is replaced, its number, and the process that a kill pins for it. */
  readonly replaced: string;
  readonly number: number;
  readonly pinned: number;
}

const [rounds, whose, window] = process.argv.slice(2) as [string, Whose | 'cli', Window];
const young = whose === 'young leader';
const tally: Tally = {
  rounds: 0,
  missed: 0,
  answers: {},
  signalledStrangers: [],
  listedStrangers: 0,
  changedRecords: 0,
};
await inWorld(async (world) => {
  const forge = await startPidForge(world.work);
  const engine = (await openEngine(world.env, world.cwd, new AbortController().signal)).engine;
  const aim = new Aim(150, 5);
  while (tally.rounds < Number(rounds)) {
    const size = Math.min(young ? 1 : 25, Number(rounds) - tally.rounds);
    const batch = Array.from({ length: size }, () => lay(engine, world, forge));
    await sleep(young ? YOUNG_MS : AGE_MS);
    for (const round of batch) {
      if (whose === 'cli') await throughCli(world, forge, round, aim);
      else await inProcess(engine, forge, round);
      for (const name of new Set([round.runId, round.replaced])) forge.clear(name);
    }
  }
  await forge.stop();
});
process.stdout.write(`${JSON.stringify(tally)}\n`);

/** A run whose leader is marked or not; of others the kill learns by their marks alone. */
function lay(engine: Engine, world: World, forge: PidForge): Round {
  const runId = newRunId();
  const marked = Math.random() < 0.5;
  const pid = forge.start(runId, marked ? runId : null);
  const started = startTimeOf(pid);
  const run = layRun(world, runId, {
    ...identityOf({ pid, pgid: pid, ...started }),
    ...(young ? tickOf(engine, started.ticks) : {}),
  });
  if (whose === 'escapee') {
    const escapee = forge.start(`escapee of ${runId}`, runId);
    return { ...run, replaced: `escapee of ${runId}`, number: escapee, pinned: escapee };
  }
  const pinned = whose === 'group' ? forge.orphan(runId, runId) : pid;
  return { ...run, replaced: runId, number: pid, pinned };
}

/** As `lion job submit` writes beside the start time, for this boot and this namespace. */
function tickOf(engine: Engine, ticks: number): Record<string, Json> {
  const { hostId, bootId, pidNamespace } = engine.processes.standpoint().origin;
  return {
    pid_start_ticks: new JsonNumber(String(ticks)),
    origin: new Map<string, Json>([
      ['host_id', hostId],
      ['boot_id', bootId],
      ['pid_namespace', new JsonNumber(String(pidNamespace))],
    ]),
  };
}

/** Every second round is aimed at the moment that parts a kill in time from one that comes too late. */
async function throughCli(world: World, forge: PidForge, round: Round, aim: Aim): Promise<void> {
  const aimed = tally.rounds % 2 === 0;
  const atMs = aimed ? aim.atMs + (Math.random() - 0.5) * 40 : -20 + Math.random() * 340;
  const forced = tally.rounds % 8 === 0 ? ['--force'] : [];
  const before = round.text();
  let taken = false;
  if (atMs < 0) taken = forge.replace(round.replaced);
  const answered = askKill(world, round.runId, ['--grace', '0', ...forced]);
  if (atMs >= 0) {
    await sleep(atMs);
    taken = forge.replace(round.replaced);
  }
  const answer = await answered;
  if (aimed) aim.was(answer.killed ? 'late' : 'early');
  note(forge, round, taken, { ...answer, reasonCode: answer.reason_code }, before);
}

async function inProcess(engine: Engine, forge: PidForge, round: Round): Promise<void> {
  const before = round.text();
  let taken = false;
  const groups = replacingGroups(linuxGroups, window, round.pinned, () => {
    taken = forge.replace(round.replaced);
  });
  const request = { signal: constants.signals.SIGTERM, graceMs: 0, force: true };
  const result = await killRun(engine, groups, round.runId, request);
  note(forge, round, taken, result, before);
}

function note(
  forge: PidForge,
  round: Round,
  taken: boolean,
  answer: { killed: boolean; reasonCode: string; remaining: readonly number[] },
  before: string,
): void {
  const { reasonCode, remaining } = answer;
  const { stranger } = forge.look(round.replaced);
  tally.rounds += 1;
  if (!taken) tally.missed += 1;
  if (taken && stranger !== 'alive') tally.signalledStrangers.push(`${stranger} after ${reasonCode}`);
  if (taken && remaining.includes(round.number)) tally.listedStrangers += 1;
  if (!answer.killed && round.text() !== before) tally.changedRecords += 1;
  tally.answers[reasonCode] = (tally.answers[reasonCode] ?? 0) + 1;
}
