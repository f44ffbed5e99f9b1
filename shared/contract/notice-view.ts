import type { Engine } from '../engine.ts';
import { isObject, type Json, type Jsonable, type JsonObject } from '../json/value.ts';
import { claimFacts } from '../notify/claim.ts';
import { deliveryStateOf, retryStateOf } from '../notify/delivery-state.ts';
import { attemptsOn, dueMsOf, parkedOf } from '../notify/next-step.ts';
import { nextOf } from '../notify/next-words.ts';
import type { Notifier } from '../notify/notifier.ts';
import { derive } from '../run/derive.ts';
import { formatIso } from '../time/iso.ts';

/** One of `data.notices`: what the record says of a run's notice, never what a notifier said. */
export type NoticeRow = Readonly<Record<string, Jsonable>>;

export function noticeRow(engine: Engine, runId: string, record: JsonObject): NoticeRow {
  const delivery = record.get('notify_delivery');
  const field = (name: string): Json => (isObject(delivery) ? (delivery.get(name) ?? null) : null);
  return {
    run_id: runId,
    label: record.get('label') ?? null,
    outcome: derive(record, false).outcome,
    finished_at: record.get('finished_at') ?? null,
    notify_delivery_state: deliveryStateOf(delivery),
    notify_retry_state: retryStateOf(delivery),
    attempts: attemptsOn(delivery),
    next_at: isObject(delivery) ? isoOf(dueMsOf(delivery)) : null,
    parked_reason: parkedOf(delivery)?.reason ?? null,
    skipped: field('skipped'),
    error: field('error'),
    failure_class: field('failure_class'),
    exit_code: field('exit_code'),
    delivery_id: field('delivery_id'),
    claimed: claimFacts(engine, delivery).stands,
  };
}

/** `data` of `lion notify show`: the row, the notifier, and what happens next. */
export interface NoticeData extends NoticeRow {
  readonly claim_until: string | null;
  readonly notifier: NotifierData;
  readonly next: {
    readonly step: string;
    readonly at: string | null;
    readonly reason: string | null;
    readonly words: string;
  };
}

export function noticeData(
  engine: Engine,
  runId: string,
  record: JsonObject,
  notifier: Notifier,
): NoticeData {
  const claim = claimFacts(engine, record.get('notify_delivery'));
  const { step, atMs, reason, words } = nextOf(record, claim, engine.now(), engine.config.notify);
  return {
    ...noticeRow(engine, runId, record),
    claim_until: claim.stands ? isoOf(claim.deadlineMs) : null,
    notifier: notifierData(notifier),
    next: { step, at: isoOf(atMs), reason, words },
  };
}

/** A notifier without its arguments, which may hold what is nobody's business. */
export interface NotifierData {
  readonly [key: string]: Jsonable;
  readonly source: string;
  readonly program: string | null;
  readonly usable: boolean;
  readonly reasons: readonly string[];
}

export function notifierData(notifier: Notifier): NotifierData {
  switch (notifier.kind) {
    case 'none':
      return { source: 'none', program: null, usable: false, reasons: [] };
    case 'unusable': {
      const { source, program, reason } = notifier;
      return { source, program, usable: false, reasons: reason.split(', ') };
    }
    case 'command':
      return { source: notifier.source, program: notifier.template[0] ?? null, usable: true, reasons: [] };
  }
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : formatIso(ms);
}
