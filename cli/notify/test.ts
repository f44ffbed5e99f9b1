import { notifierData } from '../../shared/contract/notice-view.ts';
import { recordRefusal } from '../../shared/contract/record-errors.ts';
import type { Engine } from '../../shared/engine.ts';
import type { JsonObject } from '../../shared/json/value.ts';
import { type NotifierEnvironment, notifierEnvironment } from '../../shared/notify/environment/choose.ts';
import { type Difference, differenceOf } from '../../shared/notify/environment/difference.ts';
import { type Tried, tryNotifier } from '../../shared/notify/try-notifier.ts';
import { printable } from '../../shared/printable.ts';
import { readRecord } from '../../shared/record/read.ts';
import { runDirOf } from '../../shared/store/home.ts';
import { resolveRunId } from '../../shared/store/run-id.ts';
import { facts } from '../render/facts.ts';
import { notifierLine } from '../render/notice.ts';
import type { Screen } from '../render/screen.ts';
import type { Answer, Call } from '../verb.ts';

/** `lion notify test [RUN]`: does the notifier work where notices are really sent from? */
export async function notifyTest(call: Call, id: string | undefined): Promise<Answer> {
  const engine = await call.open();
  const run = id === undefined ? null : readRun(engine, id);
  const chosen = await notifierEnvironment(engine);
  const differs = differenceOf(engine.env, chosen.env);
  const tried = await tryNotifier({ ...engine, env: chosen.env }, run);
  return {
    data: testData(chosen, differs, tried),
    human: (screen) => render(screen, chosen, differs, tried),
    exitCode: tried.result === 'delivered' ? 0 : 1,
  };
}

function readRun(engine: Engine, id: string): { runId: string; record: JsonObject } {
  const runId = resolveRunId(engine.home, id);
  const read = readRecord(runDirOf(engine.home, runId));
  if (read.state !== 'ok') throw recordRefusal(runId, read);
  return { runId, record: read.object.value };
}

function testData(chosen: NotifierEnvironment, differs: Difference, tried: Tried) {
  const { source, program } = notifierData(tried.notifier);
  return {
    environment: chosen.environment,
    environment_in_words: chosen.words,
    differs: {
      only_in_shell: differs.onlyInShell,
      only_in_service: differs.onlyInService,
      different: differs.different,
    },
    source,
    program,
    result: tried.result,
    exit_code: tried.delivery?.get('exit_code') ?? null,
    error: errorOf(tried),
    failure_class: tried.delivery?.get('failure_class') ?? null,
    duration_ms: tried.durationMs,
  };
}

function errorOf({ notifier, delivery }: Tried) {
  return notifier.kind === 'unusable' ? notifier.reason : (delivery?.get('error') ?? null);
}

function render(screen: Screen, chosen: NotifierEnvironment, differs: Difference, tried: Tried): string {
  const names = (list: readonly string[]): string => list.map(printable).join(', ');
  return facts(screen, [
    ['result', resultLine(tried)],
    ['notifier', notifierLine(notifierData(tried.notifier))],
    ['environment', printable(chosen.words)],
    ['only in this shell', names(differs.onlyInShell)],
    ['only there', names(differs.onlyInService)],
    ['another value there', names(differs.different)],
  ]);
}

function resultLine({ result, delivery, durationMs }: Tried): string {
  if (result === 'nothing') return 'nothing was run';
  if (delivery === null) return `${result}, nothing was run`;
  const [error, failureClass, exitCode] = ['error', 'failure_class', 'exit_code'].map((name) =>
    printable(delivery.get(name) ?? null),
  );
  const why = [error, failureClass, exitCode === '' ? '' : `exit ${exitCode}`].filter(Boolean).join(', ');
  return `${result} after ${durationMs} ms${result === 'delivered' ? '' : ` (${why})`}`;
}
