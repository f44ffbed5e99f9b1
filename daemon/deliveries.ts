import pLimit from 'p-limit';
import type { Engine } from '../shared/engine.ts';
import { type AttemptOutcome, attemptNotice } from '../shared/notify/attempt-notice.ts';
import type { Degradations } from './degradations.ts';
import type { Journal } from './journal.ts';
import { noticeEvent } from './notice-event.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Notices on their way, so many at once. Which ones are due is decided elsewhere, from the records, and decided
 * again by the claim itself; here they only wait for their turn.
 */
export class Deliveries {
  readonly #wanted = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #limit = pLimit(1);
  /** Attempts in a row that came to nothing, by run: asked about less and less. */
  readonly #fruitless = new Map<string, number>();
  readonly #refused = new Set<string>();
  #stopped = false;

  constructor(
    readonly engine: Engine,
    readonly journal: Journal,
    readonly degradations: Degradations,
    /** The run is to be looked at again: at once, or not before this many milliseconds have passed. */
    readonly lookAgain: (runId: string, pauseMs: number) => void,
  ) {}

  get underWay(): number {
    return this.#limit.activeCount;
  }

  isSending(runId: string): boolean {
    return this.#wanted.has(runId);
  }

  add(runId: string, won: boolean): void {
    if (this.#stopped || this.#wanted.has(runId)) return;
    this.#wanted.add(runId);
    this.#limit.concurrency = this.engine.config.notify.atOnce;
    const work = this.#limit(() => this.#send(runId, won)).finally(() => {
      this.#wanted.delete(runId);
      this.#underWay.delete(work);
    });
    this.#underWay.add(work);
  }

  forget(runId: string): void {
    this.#fruitless.delete(runId);
    this.#onRecorded(runId);
  }

  /** What has not begun stays owed on its record; resolves when what is on its way has come to its end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#underWay);
  }

  async #send(runId: string, won: boolean): Promise<void> {
    if (this.#stopped) return;
    let outcome: AttemptOutcome;
    try {
      outcome = await attemptNotice(this.engine, runId, { role: 'supervisor', won }, (deliveryId, attempt) =>
        this.journal({ event: 'attempt', run_id: runId, delivery_id: deliveryId, attempt }),
      );
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.journal({ event: 'fault', run_id: runId, message });
      return this.#pause(runId);
    }
    switch (outcome.kind) {
      case 'settled':
        this.journal(noticeEvent(runId, outcome.delivery));
        this.#fruitless.delete(runId);
        this.#onRecorded(runId);
        return this.lookAgain(runId, 0);
      case 'refused':
        this.journal({ event: 'refused', run_id: runId, code: 'notice_not_recorded' });
        this.#onRefused(runId);
        return this.#pause(runId);
      case 'nothing':
        return this.#pause(runId);
    }
  }

  #pause(runId: string): void {
    const times = (this.#fruitless.get(runId) ?? 0) + 1;
    this.#fruitless.set(runId, times);
    this.lookAgain(runId, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (times - 1)));
  }

  #onRefused(runId: string): void {
    this.#refused.add(runId);
    this.degradations.set({
      code: 'notice_not_recorded',
      cause: `${this.#refused.size} notices cannot be recorded, and without that none is sent`,
      cure: 'see that the run directories can be written and the disk is not full; it is tried again by itself',
    });
  }

  #onRecorded(runId: string): void {
    if (this.#refused.delete(runId) && this.#refused.size === 0) {
      this.degradations.clear('notice_not_recorded');
    }
  }
}
