import { ConfigError, loadConfig } from '../shared/config.ts';
import type { Config } from '../shared/config-defaults.ts';
import type { Engine } from '../shared/engine.ts';
import { signatureOf } from '../shared/store/signature.ts';
import type { Degradations } from './degradations.ts';
import type { Journal } from './journal.ts';

/**
 * The configuration as liond.yaml has it now. A file that has become wrong changes nothing: the last good
 * configuration stands, and that is said.
 */
export class ConfigWatch {
  /** The engine, with the configuration of the moment. */
  readonly engine: Engine;
  #config: Config;
  #signature: string | null;

  constructor(
    engine: Engine,
    readonly journal: Journal,
    readonly degradations: Degradations,
  ) {
    this.#config = engine.config;
    this.#signature = signatureOf(engine.home.configFile);
    const current = (): Config => this.#config;
    this.engine = {
      ...engine,
      get config() {
        return current();
      },
    };
  }

  /** Reads the file again if it is another one than before; true where a new configuration stands. */
  async refresh(): Promise<boolean> {
    const path = this.engine.home.configFile;
    const signature = signatureOf(path);
    if (signature === this.#signature) return false;
    this.#signature = signature;
    try {
      this.#config = await loadConfig(path);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.degradations.set({
        code: 'config_invalid',
        cause: error.message,
        cure: 'mend liond.yaml; until then the configuration read before stands',
      });
      return false;
    }
    this.degradations.clear('config_invalid');
    this.journal({ event: 'config_reloaded' });
    return true;
  }
}
