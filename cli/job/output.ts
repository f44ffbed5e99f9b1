import { LionError } from '../../shared/contract/errors.ts';
import { lifecycleOf } from '../../shared/contract/lifecycle.ts';
import { recordError } from '../../shared/contract/record-errors.ts';
import { listArtifacts } from '../../shared/output/artifacts.ts';
import { OUTPUT_TAIL_CHARS, readConsole } from '../../shared/output/console.ts';
import { degradedReason, readManifest } from '../../shared/output/manifest.ts';
import { printable, printableBlock } from '../../shared/printable.ts';
import { ONE_RUN_BOUNDS, recordOf, statusOf } from '../../shared/run/status.ts';
import { resolveRunId } from '../../shared/store/run-id.ts';
import type { Answer, Call } from '../verb.ts';
import { followLog } from './follow.ts';

/** `lion job output RUN` (ADR-0106 D6, D7): the end of its log, and its artifacts. */
export async function output(
  call: Call,
  id: string,
  options: { readonly tailChars?: string; readonly follow?: boolean },
): Promise<Answer> {
  if (options.follow && call.machine) {
    throw new LionError(
      'invalid_input',
      '--follow is for people; for a program: lion job wait RUN --machine, then lion job output RUN --machine',
    );
  }
  const tailChars = tailOf(options.tailChars);
  const engine = await call.open();
  const runId = resolveRunId(engine.home, id);
  const found = await statusOf(engine, runId, {
    ...ONE_RUN_BOUNDS,
    probeEnded: false,
    seenAlive: false,
  });
  const error = recordError(found);
  if (error !== null) throw error;
  if (options.follow) {
    const named = recordOf(found).get('log');
    const log = typeof named === 'string' && named !== '' ? named : null;
    const greets = !found.derived.terminal;
    const request = { runId, log, lastChars: tailChars, greets, needsReader: true };
    return { data: {}, human: () => '', follow: () => followLog(engine, request) };
  }
  const console = readConsole(recordOf(found).get('log'), tailChars);
  const artifacts = listArtifacts(engine, runId);
  const { status, terminal, outcome, reasonCode } = found.derived;
  return {
    data: {
      run_id: runId,
      record_state: found.read.state,
      status,
      terminal,
      outcome,
      reason_code: reasonCode,
      lifecycle: lifecycleOf(recordOf(found), found.derived, degradedReason(readManifest(engine, runId))),
      console: { ...console },
      artifacts: { ...artifacts },
      run_dir: `${engine.home.runsDir}/${runId}`,
    },
    human: () => {
      const files = (artifacts.value ?? []).map((path) => `artifact: ${printable(path)}\n`).join('');
      const unknown = artifacts.available ? '' : `artifacts: could not be listed (${artifacts.detail})\n`;
      const log = console.available ? printableBlock(console.value ?? '') : `log: ${console.detail}\n`;
      return (
        (console.truncated ? `[earlier output left out; --tail-chars N shows more]\n` : '') +
        endLine(log) +
        files +
        unknown
      );
    },
  };
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

const MAX_TAIL_CHARS = 64 * 1024 * 1024;

function tailOf(text: string | undefined): number {
  if (text === undefined) return OUTPUT_TAIL_CHARS;
  const chars = /^\d+$/.test(text) ? Number(text) : 0;
  if (chars >= 1 && chars <= MAX_TAIL_CHARS) return chars;
  throw new LionError(
    'invalid_input',
    `--tail-chars takes a whole number from 1 to ${MAX_TAIL_CHARS}, not ${JSON.stringify(text)}`,
  );
}
