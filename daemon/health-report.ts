import type { Degradation, Health } from '../shared/daemon/health.ts';
import type { Engine } from '../shared/engine.ts';
import { INDEX_VERSION } from '../shared/index/schema.ts';
import { formatIso } from '../shared/time/iso.ts';
import { IMPLEMENTATION_VERSION } from '../shared/version.ts';
import type { Degradations } from './degradations.ts';
import { writeHealth } from './health-file.ts';
import { Period } from './loop/period.ts';

/** A reader takes the supervisor for stalled after three of these. */
const WRITE_INTERVAL_MS = 15_000;

export type Figures = Pick<Health, 'runs' | 'open' | 'queue' | 'watches' | 'notices'>;

/** What the supervisor says of itself, written each 15 s and when what it does without has changed. */
export class HealthReport {
  readonly #startedAt: string;
  readonly #writes = new Period(WRITE_INTERVAL_MS);
  #written = '';
  readonly #sweeps = {
    names_at: null as string | null,
    stats_at: null as string | null,
    probed_at: null as string | null,
  };

  constructor(
    readonly engine: Engine,
    readonly degradations: Degradations,
    /** What is amiss outside the loops: the log, the instance lock. */
    readonly otherFaults: () => readonly Degradation[],
  ) {
    this.#startedAt = formatIso(engine.now());
  }

  did(what: keyof Health['sweeps']): void {
    this.#sweeps[what] = formatIso(this.engine.now());
  }

  writeIfDue(figures: () => Figures): void {
    const degraded = [...this.degradations.list(), ...this.otherFaults()];
    const codes = JSON.stringify(degraded);
    const steadyMs = performance.now();
    if (codes === this.#written && !this.#writes.isDue(steadyMs)) return;
    this.#writes.restart(steadyMs);
    const { home } = this.engine;
    const failed = writeHealth(home.stateDir, {
      pid: process.pid,
      version: IMPLEMENTATION_VERSION,
      index_version: INDEX_VERSION,
      started_at: this.#startedAt,
      updated_at: formatIso(this.engine.now()),
      jobs_dir: home.jobsDir,
      ...figures(),
      sweeps: { ...this.#sweeps },
      degraded,
    });
    this.#written = codes;
    if (failed === null) this.degradations.clear('health_unwritable');
    else this.degradations.set(unwritable(home.stateDir, failed));
  }
}

function unwritable(stateDir: string, errno: string): Degradation {
  return {
    code: 'health_unwritable',
    cause: `${stateDir}/health.json cannot be written (${errno}), so it will look stalled`,
    cure: 'make room, or give the directory back; it is tried again by itself',
  };
}
