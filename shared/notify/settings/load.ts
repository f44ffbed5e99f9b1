import { createHash } from 'node:crypto';
import { errnoOf } from '../../errno.ts';
import { readBounded, UnusableFile } from '../../record/read.ts';
import { withoutTracing } from '../../yaml-tracing.ts';
import { parseSettingsYaml } from './parse-yaml.ts';
import { isSettingMap, isTruthySetting, type SettingMap } from './value.ts';

/** One settings file as it stood; `settings` is null where it could not be read or does not parse. */
export interface LoadedFile {
  readonly path: string;
  /** Differs as soon as the bytes do, or the reason why there are none. */
  readonly fingerprint: string;
  readonly settings: SettingMap | null;
}

/** Settings are written by hand; a larger file is something else, and parsing it would hold up all else. */
export const MAX_SETTINGS_BYTES = 128 * 1024;

/**
 * Reads one settings file (design 7). Never throws and never blocks: whatever is wrong with it is a null, for
 * the caller to record as `settings_load_failed`.
 */
export function loadSettingsFile(path: string): LoadedFile {
  const read = readBytes(path);
  if (typeof read === 'string') return { path, fingerprint: read, settings: null };
  return { path, fingerprint: createHash('sha256').update(read).digest('hex'), settings: parse(read) };
}

function readBytes(path: string): Buffer | string {
  try {
    return readBounded(path, MAX_SETTINGS_BYTES).bytes;
  } catch (error) {
    if (error instanceof UnusableFile) return error.message;
    const code = errnoOf(error);
    if (code === null) throw error;
    return code;
  }
}

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Any error is the file's: the yaml package throws of its own kinds and the engine's, down to a full stack. */
function parse(bytes: Buffer): SettingMap | null {
  try {
    const value = withoutTracing(() => parseSettingsYaml(STRICT_UTF8.decode(bytes)));
    if (!isTruthySetting(value)) return new Map();
    return isSettingMap(value) ? value : null;
  } catch {
    return null;
  }
}
