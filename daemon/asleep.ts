import type { Engine } from '../shared/engine.ts';
import type { JsonObject } from '../shared/json/value.ts';
import { settingsStart } from '../shared/notify/notifier.ts';
import { settingsSignature } from '../shared/notify/settings/signature.ts';

/** Runs whose notice waits for other settings: what the settings files looked like when that was decided. */
export class Asleep {
  readonly #runs = new Map<string, { readonly startDir: string | null; readonly signature: string }>();

  put(engine: Engine, runId: string, record: JsonObject): void {
    const startDir = settingsStart(engine, record);
    const signature = settingsSignature(engine.home.userDir, startDir);
    this.#runs.set(runId, { startDir, signature });
  }

  drop(runId: string): void {
    this.#runs.delete(runId);
  }

  /** Those whose settings have changed since; each directory is asked about once. */
  awoken(engine: Engine): string[] {
    const now = new Map<string | null, string>();
    return [...this.#runs].flatMap(([runId, { startDir, signature }]) => {
      const current = now.get(startDir) ?? settingsSignature(engine.home.userDir, startDir);
      now.set(startDir, current);
      return current === signature ? [] : [runId];
    });
  }
}
