import { nodeCron, type ScheduledTask } from 'node-cron';
import type { Journal } from './journal.ts';

export interface Chore {
  readonly name: string;
  /** A cron expression, read as UTC: no clock change of a time zone doubles or drops a run. */
  readonly at: string;
  /** How far apart its runs are; a run that has been missing for longer than half as much again is made up for, once. */
  readonly everyMs: number;
  run(signal: AbortSignal): Promise<void>;
}

/** Less than this part of a period after the last run there is nothing to make up for. */
const TOO_SOON = 0.5;
const MISSED = 1.5;

/**
 * Chores by the clock. The cron timer alone forgets what was due while the process was frozen or the machine asleep,
 * so `tick` makes up for it by steady time: once, however many were missed. A chore never overlaps itself, and one
 * that fails is said and tried at its next time.
 */
export class Maintenance {
  readonly #tasks: ScheduledTask[];
  readonly #lastMs = new Map<string, number>();
  readonly #busy = new Map<string, Promise<void>>();

  constructor(
    readonly chores: readonly Chore[],
    readonly journal: Journal,
    readonly signal: AbortSignal,
    /** Steady milliseconds. */
    readonly steadyMs: () => number = () => performance.now(),
  ) {
    const beganMs = steadyMs();
    for (const chore of chores) this.#lastMs.set(chore.name, beganMs);
    this.#tasks = chores.map((chore) =>
      nodeCron.schedule(chore.at, () => this.#run(chore, TOO_SOON), {
        name: chore.name,
        timezone: 'UTC',
        suppressMissedWarning: true,
        unref: true,
      }),
    );
  }

  /** Makes up for what should have run and did not. */
  tick(): void {
    for (const chore of this.chores) void this.#run(chore, MISSED);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#tasks.map((task) => task.destroy()));
    await Promise.all(this.#busy.values());
  }

  async #run(chore: Chore, periods: number): Promise<void> {
    const nowMs = this.steadyMs();
    const sinceMs = nowMs - (this.#lastMs.get(chore.name) ?? nowMs);
    if (this.signal.aborted || this.#busy.has(chore.name) || sinceMs < chore.everyMs * periods) return;
    this.#lastMs.set(chore.name, nowMs);
    const work = this.#work(chore);
    this.#busy.set(chore.name, work);
    await work;
    this.#busy.delete(chore.name);
  }

  async #work(chore: Chore): Promise<void> {
    try {
      await chore.run(this.signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.journal({ event: 'fault', run_id: null, message: `${chore.name}: ${why}` });
    }
  }
}
