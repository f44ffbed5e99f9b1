import { LionError } from '../../shared/contract/errors.ts';
import { requireLock } from '../../shared/lock/run-lock.ts';
import { printable } from '../../shared/printable.ts';
import { OUTCOMES } from '../../shared/run/derive.ts';
import type { KeepReason, PruneRule } from '../../shared/run/prune/decide.ts';
import { type Progress, type Pruned, prune as pruneRuns } from '../../shared/run/prune/prune.ts';
import { listRunNames } from '../../shared/store/names.ts';
import { size } from '../render/usage.ts';
import { spanMsOf } from '../span.ts';
import type { Answer, Call } from '../verb.ts';
import { wordOf } from './list-filter.ts';

export interface PruneOptions {
  readonly olderThan?: string;
  readonly keep?: string;
  readonly maxSize?: string;
  readonly outcome?: readonly string[];
  readonly force?: boolean;
  readonly yes?: boolean;
}

/** A writer that holds a run's lock for longer keeps that run; the others go on. */
const LOCK_WAIT_MS = 1_000;

/** `lion job prune`: removes runs, or says which it would remove. */
export async function prune(call: Call, options: PruneOptions): Promise<Answer> {
  const rule = ruleOf(options);
  const dryRun = options.yes !== true;
  if (!dryRun) await requireLock();
  const engine = await call.open();
  const names = listRunNames(engine.home.jobsDir);
  const onProgress = ({ doing, done, of }: Progress): void =>
    call.progress(`${doing === 'measuring' ? 'measuring the store' : 'going through it'}: ${done} of ${of}`);
  const request = { rule, dryRun, lockWaitMs: LOCK_WAIT_MS, signal: call.signal, onProgress };
  const pruned = await pruneRuns(engine, names, request);
  return {
    data: {
      dry_run: dryRun,
      removed: pruned.removed.map(({ runId, bytes }) => ({ run_id: runId, bytes })),
      bytes: bytesOf(pruned),
      kept: { ...pruned.kept },
      failed: pruned.failed.map(({ runId, why }) => ({ run_id: runId, why })),
      interrupted: pruned.interrupted,
    },
    human: () => render(pruned, names.length, dryRun),
    exitCode: pruned.failed.length === 0 ? 0 : 1,
  };
}

/** @throws LionError `invalid_input`, also where no rule is given: nothing is removed by default. */
function ruleOf(options: PruneOptions): PruneRule {
  const { olderThan, keep, maxSize, outcome } = options;
  if ([olderThan, keep, maxSize, outcome].every((rule) => rule === undefined)) {
    throw refusal('give at least one rule: --older-than, --keep, --max-size or --outcome');
  }
  return {
    olderThanMs: olderThan === undefined ? null : timeOf(olderThan),
    keepNewest: keep === undefined ? null : numberOf(keep),
    maxBytes: maxSize === undefined ? null : bytesIn(maxSize),
    outcomes: outcome?.map((word) => wordOf('--outcome', OUTCOMES, word)) ?? null,
    force: options.force ?? false,
  };
}

function timeOf(text: string): number {
  const spanMs = spanMsOf(text);
  if (spanMs !== null) return spanMs;
  throw refusal(`--older-than takes a number with s, m, h, d or w, as 30d, not ${JSON.stringify(text)}`);
}

const SIZE_UNITS = ['', 'K', 'M', 'G', 'T'];

function bytesIn(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?$/i.exec(text) ?? [];
  if (number !== undefined) return Number(number) * 1024 ** SIZE_UNITS.indexOf((unit ?? '').toUpperCase());
  throw refusal(`--max-size takes bytes, or a number with K, M, G or T, as 5G, not ${JSON.stringify(text)}`);
}

function numberOf(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw refusal(`--keep takes a whole number, not ${JSON.stringify(text)}`);
}

function refusal(message: string): LionError {
  return new LionError('invalid_input', message);
}

function bytesOf({ removed }: Pruned): number {
  return removed.reduce((sum, { bytes }) => sum + bytes, 0);
}

function render(pruned: Pruned, of: number, dryRun: boolean): string {
  const { removed, failed } = pruned;
  const kept = Object.entries(pruned.kept) as [KeepReason, number][];
  const runs = runsOf(removed.length);
  const head = dryRun ? `Would remove ${runs} and free` : `Removed ${runs} and freed`;
  const lines = [`${head} ${size(bytesOf(pruned))}.`];
  if (dryRun) lines.push(...shown(removed.map((run) => `${printable(run.runId)}  ${size(run.bytes)}`)));
  if (kept.length > 0) lines.push(dryRun ? 'Would keep:' : 'Kept:');
  lines.push(...kept.map(([reason, count]) => `  ${runsOf(count)} ${REASON_WORDS[reason]}`));
  if (failed.length > 0) lines.push('Could not be removed:');
  lines.push(...shown(failed.map((run) => `${printable(run.runId)}  ${run.why}`)));
  if (pruned.interrupted) lines.push(`Interrupted: ${runsOf(notFinished(pruned, of))} not gone through.`);
  if (dryRun && removed.length > 0) lines.push('Nothing was removed; --yes does it.');
  return `${lines.join('\n')}\n`;
}

const SHOWN_RUNS = 20;

function shown(runs: readonly string[]): string[] {
  const lines = runs.slice(0, SHOWN_RUNS).map((run) => `  ${run}`);
  return runs.length > SHOWN_RUNS
    ? [...lines, `  and ${runs.length - SHOWN_RUNS} more; --machine names them all`]
    : lines;
}

function runsOf(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`;
}

function notFinished({ removed, kept, failed }: Pruned, of: number): number {
  return of - removed.length - failed.length - Object.values(kept).reduce((sum, count) => sum + count, 0);
}

const REASON_WORDS: Readonly<Record<KeepReason, string>> = {
  outside_rule: 'outside the rule',
  not_ended: 'without a recorded end',
  alive: 'ended, with processes that live on',
  maybe_alive: 'ended, with a process that may be theirs and cannot be identified',
  undelivered: 'whose notice has not got through (lion notify list; --force removes them)',
  damaged: 'with a damaged record (--force removes them)',
  reserved: 'without a record (--force removes them once they are a day old)',
  changed_meanwhile: 'changed meanwhile',
};
