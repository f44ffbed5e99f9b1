/**
 * Who may send, decided on the record (design 7). Reader, hook and supervisor all come through here:
 *
 *   unsent ──claim──> attempted, ok null, claim {nonce, deadline} ──result while the nonce stands──> settled
 *                          └── owner gone or deadline passed: the outcome is unknown, and stays so until a
 *                              person or a policy claims again
 *
 * The write-ahead is on disk before the notifier starts; without it nothing starts. A claim compares the whole
 * delivery object with the one its taker read, so two takers cannot both have seen the same one.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Engine } from '../engine.ts';
import { pyEqual } from '../json/python.ts';
import { isObject, type Json, JsonNumber, type JsonObject, toJson } from '../json/value.ts';
import { type MutateOptions, mutateRecord, type Refusal } from '../record/mutate.ts';
import { hasEnd } from '../run/end.ts';
import { runDirOf } from '../store/home.ts';
import { formatIso, parseIso } from '../time/iso.ts';
import { attemptsOn, type ClaimFacts } from './next-step.ts';

/** What a claim outlasts the notifier's own time by: 45 s for the usual 30. */
const CLAIM_MARGIN_MS = 15_000;
export const NOTICE_LOCK_WAIT_MS = 5_000;

export interface Claim {
  readonly nonce: string;
  readonly deadlineMs: number;
  readonly deliveryId: string;
  readonly attempt: number;
  /** What stood there before, put back if nothing was launched after all. */
  readonly before: Json;
}

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** @param seen the delivery object the decision to send was based on. */
export async function claimAttempt(
  engine: Engine,
  runId: string,
  seen: Json | undefined,
): Promise<ClaimResult> {
  const nonce = randomBytes(12).toString('hex');
  const deadlineMs = engine.now() + engine.config.notify.timeoutMs + CLAIM_MARGIN_MS;
  const owner = ownerOf(engine);
  const mutation = await mutateRecord<Claim | null>(
    runDirOf(engine.home, runId),
    runId,
    lockWait(engine),
    (record) => {
      const current = record.get('notify_delivery');
      const unchanged = pyEqual(current ?? null, seen ?? null);
      if (!hasEnd(record) || !unchanged || claimStands(engine, current)) return { verdict: null };
      const claim: Claim = {
        nonce,
        deadlineMs,
        deliveryId: deliveryIdOf(runId, record),
        attempt: attemptsOn(current) + 1,
        before: current ?? null,
      };
      return { verdict: claim, set: new Map([['notify_delivery', writeAhead(claim, owner)]]) };
    },
  );
  if (mutation.kind === 'refused') return mutation;
  return mutation.kind === 'done' && mutation.verdict !== null
    ? { kind: 'claimed', claim: mutation.verdict }
    : { kind: 'lost' };
}

/** Does the claim on a delivery object still hold: its owner lives and its deadline has not passed? */
export function claimStands(engine: Engine, delivery: Json | undefined): boolean {
  return claimFacts(engine, delivery).stands;
}

export function claimFacts(engine: Engine, delivery: Json | undefined): ClaimFacts {
  const claim = isObject(delivery) ? delivery.get('claim') : undefined;
  const deadline = isObject(claim) ? claim.get('deadline') : undefined;
  const deadlineMs = typeof deadline === 'string' ? parseIso(deadline) : null;
  const inTime = deadlineMs !== null && engine.now() < deadlineMs;
  return { stands: inTime && isObject(claim) && ownerMayLive(engine, claim), deadlineMs };
}

/** Ours, unclaimed by anyone else and in time: looked at again immediately before the spawn. */
export function stillOurs(engine: Engine, delivery: Json | undefined, claim: Claim): boolean {
  return nonceOf(delivery) === claim.nonce && engine.now() < claim.deadlineMs;
}

/** Replaces the claim by `next`, if the nonce still stands. */
export async function settleClaim(
  engine: Engine,
  runId: string,
  claim: Claim,
  next: Json,
): Promise<'settled' | 'superseded' | 'refused'> {
  const mutation = await mutateRecord(runDirOf(engine.home, runId), runId, lockWait(engine), (record) =>
    nonceOf(record.get('notify_delivery')) === claim.nonce
      ? { verdict: true, set: new Map([['notify_delivery', next]]) }
      : { verdict: false },
  );
  if (mutation.kind === 'refused') return 'refused';
  return mutation.kind === 'done' && mutation.verdict ? 'settled' : 'superseded';
}

/** Stable from the run and its end, so that a receiver can tell a repeat. */
export function deliveryIdOf(runId: string, record: JsonObject): string {
  const end = record.get('finished_at');
  const text = typeof end === 'string' ? end : end instanceof JsonNumber ? end.text : JSON.stringify(end);
  return createHash('sha256').update(`${runId}\0${text}`).digest('hex').slice(0, 32);
}

function writeAhead(claim: Claim, owner: { readonly [key: string]: string | number | null }): Json {
  return toJson({
    attempted: true,
    ok: null,
    exit_code: null,
    error: 'delivery_outcome_unknown',
    command: null,
    owed: true,
    delivery_id: claim.deliveryId,
    attempts: claim.attempt,
    claim: { ...owner, nonce: claim.nonce, deadline: formatIso(claim.deadlineMs) },
  });
}

function ownerOf(engine: Engine): { readonly [key: string]: string | number | null } {
  const { hostId, bootId, pidNamespace } = engine.processes.standpoint().origin;
  const self = engine.processes.sight(process.pid);
  return {
    host_id: hostId,
    boot_id: bootId,
    pid_namespace: pidNamespace,
    pid: process.pid,
    start_ticks: self.kind === 'live' ? self.startTicks : null,
  };
}

/** An owner elsewhere, or one that cannot be identified, is waited for until its deadline. */
function ownerMayLive(engine: Engine, claim: JsonObject): boolean {
  const here = engine.processes.standpoint().origin;
  const pid = claim.get('pid');
  const ticks = claim.get('start_ticks');
  const samePlace = claim.get('boot_id') === here.bootId && here.bootId !== null;
  const sameNamespace = numberOf(claim.get('pid_namespace')) === here.pidNamespace;
  if (!samePlace || !sameNamespace || !(pid instanceof JsonNumber)) return true;
  const sighting = engine.processes.sight(pid.value);
  if (sighting.kind !== 'live') return sighting.kind === 'unreadable';
  return sighting.startTicks === null || numberOf(ticks) === null || numberOf(ticks) === sighting.startTicks;
}

function nonceOf(delivery: Json | undefined): Json {
  const claim = isObject(delivery) ? delivery.get('claim') : undefined;
  return isObject(claim) ? (claim.get('nonce') ?? null) : null;
}

function numberOf(value: Json | undefined): number | null {
  return value instanceof JsonNumber ? value.value : null;
}

function lockWait(engine: Engine): MutateOptions {
  return { waitMs: NOTICE_LOCK_WAIT_MS, signal: engine.signal, now: engine.now };
}
