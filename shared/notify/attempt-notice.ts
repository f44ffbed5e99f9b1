/**
 * One attempt at a run's terminal notice (ADR-0107 D7), for whoever makes it:
 *
 *   read the record -> may this sender begin? -> which notifier -> claim (the write-ahead) -> still ours? ->
 *   run the notifier -> put the result on the record, while the claim stands
 *
 * The end must be on the record before anything is sent, and the result never touches the end.
 */
import type { Engine } from '../engine.ts';
import { isObject, type Json, type JsonObject, toJson } from '../json/value.ts';
import { readRecord } from '../record/read.ts';
import { derive } from '../run/derive.ts';
import { hasEnd } from '../run/end.ts';
import { runDirOf } from '../store/home.ts';
import { type Claim, claimAttempt, claimFacts, settleClaim, stillOurs } from './claim.ts';
import { deliver } from './deliver.ts';
import { isUnsent } from './delivery-state.ts';
import { endMsOf, noticeStep } from './next-step.ts';
import { type HookArguments, type Notifier, resolveNotifier, textOf } from './notifier.ts';
import { parkedDelivery, rewriteDelivery, skippedDelivery } from './rewrite.ts';
import { settledDelivery } from './settle.ts';
import { isSkippedByRule } from './skip-rule.ts';

export type Sender =
  /** It ended the run and sends its first notice. */
  | { readonly role: 'winner' }
  /** The run itself, whoever wrote its end. */
  | { readonly role: 'hook'; readonly hook: HookArguments; readonly reasonCode: string | null }
  /** What is due; `won`: it ended the run, so the first notice is due at once. */
  | { readonly role: 'supervisor'; readonly won: boolean }
  /** By hand: anything that nobody is sending right now. */
  | { readonly role: 'person' };

export type AttemptOutcome =
  | { readonly kind: 'nothing'; readonly why: 'no_end' | 'not_due' | 'claimed_elsewhere' | 'no_notifier' }
  /** What now stands on the record. */
  | { readonly kind: 'settled'; readonly delivery: JsonObject }
  /** The lock was refused: before the launch nothing was sent, after it the result is not on the record. */
  | { readonly kind: 'refused'; readonly launched: boolean };

/** Told immediately before a notifier starts. */
export type OnLaunch = (deliveryId: string, attempt: number) => void;

export async function attemptNotice(
  engine: Engine,
  runId: string,
  sender: Sender,
  onLaunch: OnLaunch = () => undefined,
): Promise<AttemptOutcome> {
  const read = readRecord(runDirOf(engine.home, runId));
  if (read.state !== 'ok' || !hasEnd(read.object.value)) return { kind: 'nothing', why: 'no_end' };
  const record = read.object.value;
  const seen = record.get('notify_delivery');
  if (claimFacts(engine, seen).stands) return { kind: 'nothing', why: 'claimed_elsewhere' };
  if (!mayBegin(engine, record, sender)) return { kind: 'nothing', why: 'not_due' };
  const notifier = await resolveNotifier(engine, runId, record, sender.role === 'hook' ? sender.hook : {});
  switch (notifier.kind) {
    case 'none':
      // What is owed and no longer configured waits for the settings to change.
      return sender.role === 'supervisor'
        ? settleBy(engine, runId, seen, parkedDelivery(seen, 'notifier_not_configured', notifier.configHash))
        : { kind: 'nothing', why: 'no_notifier' };
    case 'unusable':
      return settleBy(engine, runId, seen, unusableDelivery(seen, notifier));
    case 'command':
      return sender.role !== 'person' && isSkippedByRule(record, engine.config.notify)
        ? settleBy(engine, runId, seen, skippedDelivery(seen))
        : claimAndDeliver(engine, runId, record, notifier, sender, onLaunch);
  }
}

/**
 * A winner sends what its own end said is owed. A hook speaks for the run itself, so it may send whenever
 * nothing has been attempted yet, whoever wrote the end.
 */
function mayBegin(engine: Engine, record: JsonObject, sender: Sender): boolean {
  const delivery = record.get('notify_delivery') ?? null;
  const unsent = isObject(delivery) && isUnsent(delivery);
  switch (sender.role) {
    case 'hook':
      return delivery === null || unsent;
    case 'winner':
      return unsent && delivery.get('owed') === true;
    case 'supervisor': {
      if (sender.won && unsent) return delivery.get('owed') === true;
      const claim = claimFacts(engine, delivery);
      const step = noticeStep(record, claim, engine.now(), engine.config.notify);
      return step.kind === 'attempt' || step.kind === 'asleep';
    }
    case 'person':
      return true;
  }
}

async function claimAndDeliver(
  engine: Engine,
  runId: string,
  record: JsonObject,
  notifier: Extract<Notifier, { kind: 'command' }>,
  sender: Sender,
  onLaunch: OnLaunch,
): Promise<AttemptOutcome> {
  const claimed = await claimAttempt(engine, runId, record.get('notify_delivery'));
  if (claimed.kind === 'lost') return { kind: 'nothing', why: 'claimed_elsewhere' };
  if (claimed.kind === 'refused') return { kind: 'refused', launched: false };
  const { claim } = claimed;
  if (!isStillOurs(engine, runId, claim)) {
    await settleClaim(engine, runId, claim, claim.before);
    return { kind: 'nothing', why: 'claimed_elsewhere' };
  }
  onLaunch(claim.deliveryId, claim.attempt);
  const result = await deliver(engine, notifier, {
    fields: fieldsOf(runId, record, notifier, sender),
    outcome: derive(record, false).outcome,
    deliveryId: claim.deliveryId,
    attempt: claim.attempt,
  });
  const delivery = settledDelivery(
    {
      result,
      deliveryId: claim.deliveryId,
      attempt: claim.attempt,
      source: notifier.source,
      configHash: notifier.configHash,
      environmentLasts: sender.role === 'supervisor',
      endMs: endMsOf(record) ?? engine.now(),
      nowMs: engine.now(),
      random: Math.random(),
    },
    engine.config.notify,
  );
  const settled = await settleClaim(engine, runId, claim, delivery);
  if (settled === 'refused') return { kind: 'refused', launched: true };
  return settled === 'settled'
    ? { kind: 'settled', delivery }
    : { kind: 'nothing', why: 'claimed_elsewhere' };
}

function isStillOurs(engine: Engine, runId: string, claim: Claim): boolean {
  const read = readRecord(runDirOf(engine.home, runId));
  return read.state === 'ok' && stillOurs(engine, read.object.value.get('notify_delivery'), claim);
}

/** The recorded status goes out, not the one a late hook brings: one end and one story. */
export function fieldsOf(
  runId: string,
  record: JsonObject,
  notifier: Extract<Notifier, { kind: 'command' }>,
  sender: Sender,
): Record<string, string> {
  const reason = sender.role === 'hook' ? (sender.reasonCode ?? textOf(record.get('reason_code'))) : '';
  return {
    run_id: runId,
    status: textOf(record.get('status')),
    label: textOf(record.get('label')) || textOf(record.get('kind')) || 'run',
    target: notifier.target,
    sender: notifier.sender,
    ...(reason === '' ? {} : { reason_code: reason }),
  };
}

/** Configured and not to be used: a recorded failure with its reasons, parked until the configuration changes. */
function unusableDelivery(
  seen: Json | undefined,
  notifier: Extract<Notifier, { kind: 'unusable' }>,
): JsonObject {
  const kept = isObject(seen) ? ['delivery_id', 'attempts'].filter((key) => seen.has(key)) : [];
  return toJson({
    attempted: false,
    ok: false,
    exit_code: null,
    error: notifier.reason,
    command: notifier.program,
    owed: true,
    ...Object.fromEntries(kept.map((key) => [key, (seen as JsonObject).get(key) ?? null])),
    retry: { parked: { reason: 'notifier_unusable', config_hash: notifier.configHash } },
  }) as JsonObject;
}

async function settleBy(
  engine: Engine,
  runId: string,
  seen: Json | undefined,
  delivery: JsonObject,
): Promise<AttemptOutcome> {
  const rewrite = await rewriteDelivery(engine, runId, seen, delivery);
  if (rewrite === 'refused') return { kind: 'refused', launched: false };
  return rewrite === 'written'
    ? { kind: 'settled', delivery }
    : { kind: 'nothing', why: 'claimed_elsewhere' };
}
