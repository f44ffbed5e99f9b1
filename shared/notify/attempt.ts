import type { Engine } from '../engine.ts';
import { pyEqual } from '../json/python.ts';
import { isObject, type Json, type JsonObject, toJson } from '../json/value.ts';
import { mutateRecord } from '../record/mutate.ts';
import { readRecord } from '../record/read.ts';
import { hasEnd } from '../run/end.ts';
import { runDirOf } from '../store/home.ts';
import { formatIso } from '../time/iso.ts';
import { backoffMs } from './backoff.ts';
import { type Claim, claimAttempt, claimStands, settleClaim, stillOurs } from './claim.ts';
import { type DeliveryResult, deliver } from './deliver.ts';
import { isUnsent } from './delivery-state.ts';
import { type HookArguments, type Notifier, resolveNotifier, textOf } from './notifier.ts';

/** Who makes the first attempt: the winner of a reap, or the run's own hook. */
export type Sender =
  | { readonly role: 'winner' }
  | { readonly role: 'hook'; readonly hook: HookArguments; readonly reasonCode: string | null };

export type AttemptOutcome =
  /** Nothing was configured, or it is another's to send. */
  | { readonly kind: 'nothing' }
  /** What now stands on the record. */
  | { readonly kind: 'settled'; readonly delivery: JsonObject }
  /** The lock was refused: before the launch nothing was sent, after it the result is not on the record. */
  | { readonly kind: 'refused'; readonly launched: boolean };

/**
 * The first attempt at a run's terminal notice (ADR-0107 D7). The end must be on the record; the attempt is
 * recorded before the notifier starts; the result never touches the end.
 */
export async function attemptFirstNotice(
  engine: Engine,
  runId: string,
  sender: Sender,
): Promise<AttemptOutcome> {
  const read = readRecord(runDirOf(engine.home, runId));
  if (read.state !== 'ok') return { kind: 'nothing' };
  const record = read.object.value;
  const seen = record.get('notify_delivery');
  if (!hasEnd(record) || !mayBegin(seen, sender) || claimStands(engine, seen)) return { kind: 'nothing' };
  const notifier = await resolveNotifier(engine, runId, record, sender.role === 'hook' ? sender.hook : {});
  switch (notifier.kind) {
    case 'none':
      return { kind: 'nothing' };
    case 'unusable':
      return recordUnusable(engine, runId, seen, notifier);
    case 'command':
      return claimAndDeliver(engine, runId, record, seen, notifier, sender);
  }
}

/**
 * A winner sends what its own end said is owed. A hook speaks for the run itself, so it may send whenever
 * nothing has been attempted yet, whoever wrote the end.
 */
function mayBegin(delivery: Json | undefined, sender: Sender): boolean {
  if (delivery === undefined || delivery === null) return sender.role === 'hook';
  if (!isObject(delivery) || !isUnsent(delivery)) return false;
  return sender.role === 'hook' || delivery.get('owed') === true;
}

async function claimAndDeliver(
  engine: Engine,
  runId: string,
  record: JsonObject,
  seen: Json | undefined,
  notifier: Extract<Notifier, { kind: 'command' }>,
  sender: Sender,
): Promise<AttemptOutcome> {
  const claimed = await claimAttempt(engine, runId, seen);
  if (claimed.kind === 'lost') return { kind: 'nothing' };
  if (claimed.kind === 'refused') return { kind: 'refused', launched: false };
  const { claim } = claimed;
  if (!isStillOurs(engine, runId, claim)) {
    await settleClaim(engine, runId, claim, claim.before);
    return { kind: 'nothing' };
  }
  const fields = fieldsOf(runId, record, notifier, sender);
  const result = await deliver(engine, notifier, {
    fields,
    deliveryId: claim.deliveryId,
    attempt: claim.attempt,
  });
  const delivery = settledDelivery(result, claim, notifier, engine.now());
  const settled = await settleClaim(engine, runId, claim, delivery);
  if (settled === 'refused') return { kind: 'refused', launched: true };
  return settled === 'settled' ? { kind: 'settled', delivery } : { kind: 'nothing' };
}

function isStillOurs(engine: Engine, runId: string, claim: Claim): boolean {
  const read = readRecord(runDirOf(engine.home, runId));
  return read.state === 'ok' && stillOurs(engine, read.object.value.get('notify_delivery'), claim);
}

/** The recorded status goes out, not the one a late hook brings: one end and one story. */
function fieldsOf(
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

function settledDelivery(
  result: DeliveryResult,
  claim: Claim,
  notifier: Extract<Notifier, { kind: 'command' }>,
  nowMs: number,
): JsonObject {
  const again = result.failure === 'definite' || result.failure === 'fault';
  const bookkeeping = toJson({
    owed: again,
    delivery_id: claim.deliveryId,
    attempts: claim.attempt,
    ...(again ? { retry: retryOf(result, claim, notifier, nowMs) } : {}),
  });
  return new Map([...result.delivery, ...(bookkeeping as JsonObject)]);
}

/** A later attempt cannot know a command that only the hook or this environment had. */
function retryOf(
  result: DeliveryResult,
  claim: Claim,
  notifier: Extract<Notifier, { kind: 'command' }>,
  nowMs: number,
): { readonly [key: string]: string | { readonly [key: string]: string } } {
  const configHash = notifier.configHash;
  if (notifier.source === 'hook' || notifier.source === 'environment') {
    return { parked: { reason: 'command_not_on_record', config_hash: configHash } };
  }
  if (result.failure === 'fault')
    return { parked: { reason: 'notifier_cannot_start', config_hash: configHash } };
  return { next_at: formatIso(nowMs + backoffMs(claim.attempt, Math.random())) };
}

const NOTICE_LOCK_WAIT_MS = 5_000;

/** Configured and not to be used: a recorded failure with its reasons, parked until the configuration changes. */
async function recordUnusable(
  engine: Engine,
  runId: string,
  seen: Json | undefined,
  notifier: Extract<Notifier, { kind: 'unusable' }>,
): Promise<AttemptOutcome> {
  const delivery = toJson({
    attempted: false,
    ok: false,
    exit_code: null,
    error: notifier.reason,
    command: notifier.program,
    owed: true,
    retry: { parked: { reason: 'notifier_unusable', config_hash: notifier.configHash } },
  }) as JsonObject;
  const options = { waitMs: NOTICE_LOCK_WAIT_MS, signal: engine.signal };
  const mutation = await mutateRecord(runDirOf(engine.home, runId), runId, options, (record) =>
    pyEqual(record.get('notify_delivery') ?? null, seen ?? null)
      ? { verdict: true, set: new Map([['notify_delivery', delivery as Json]]) }
      : { verdict: false },
  );
  if (mutation.kind === 'refused') return { kind: 'refused', launched: false };
  return mutation.kind === 'done' && mutation.verdict ? { kind: 'settled', delivery } : { kind: 'nothing' };
}
