import { ConfigError, loadConfig } from './config.ts';
import { type Config, DEFAULT_CONFIG } from './config-defaults.ts';
import { loadProcessTable } from './process/load.ts';
import type { ProcessTable } from './process/table.ts';
import { type Env, type Home, homeOf } from './store/home.ts';

/** What every call of the engine is given: one place, one environment, one lifetime. */
export interface Engine {
  readonly home: Home;
  readonly env: Env;
  /** The caller's own directory. */
  readonly cwd: string;
  readonly config: Config;
  readonly processes: ProcessTable;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface OpenedEngine {
  readonly engine: Engine;
  /** What is wrong with liond.yaml; the engine then goes by the defaults, which judge less. */
  readonly configFault: string | null;
}

export async function openEngine(env: Env, cwd: string, signal: AbortSignal): Promise<OpenedEngine> {
  const home = homeOf(env, cwd);
  const { config, configFault } = await configOf(home.configFile);
  const processes = await loadProcessTable();
  return { engine: { home, env, cwd, config, processes, now: Date.now, signal }, configFault };
}

async function configOf(path: string): Promise<{ config: Config; configFault: string | null }> {
  try {
    return { config: await loadConfig(path), configFault: null };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: DEFAULT_CONFIG, configFault: error.message };
  }
}
