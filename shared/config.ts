import { existsSync } from 'node:fs';
import { type Config, DEFAULT_CONFIG } from './config-defaults.ts';
import { readBounded } from './record/read.ts';

/** What is wrong with liond.yaml, in words that name the key. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const MAX_CONFIG_BYTES = 256 * 1024;

/** @throws ConfigError; a missing file is the defaults. */
export async function loadConfig(path: string): Promise<Config> {
  if (!existsSync(path)) return DEFAULT_CONFIG;
  const { parseConfig } = await import('./config-schema.ts');
  let text: string;
  try {
    text = readBounded(path, MAX_CONFIG_BYTES).bytes.toString('utf8');
  } catch (error) {
    throw new ConfigError(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const parsed = parseConfig(text);
  if (typeof parsed === 'string') throw new ConfigError(`${path}: ${parsed}`);
  return parsed;
}
