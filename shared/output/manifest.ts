import { join } from 'node:path';
import type { Engine } from '../engine.ts';
import { errnoOf, hasCode } from '../errno.ts';
import { JsonSyntaxError, parseJson } from '../json/parse.ts';
import { isObject, type Json } from '../json/value.ts';
import { readBounded, UnusableFile } from '../record/read.ts';
import { type Available, available, unavailable } from './available.ts';

const MAX_MANIFEST_BYTES = 16 * 1024 * 1024;

/** The engine's own run.json; not there yet is an established null, unreadable is not. */
export function readManifest(engine: Engine, runId: string): Available<Json> {
  const path = join(engine.home.runsDir, runId, 'run.json');
  try {
    const { bytes } = readBounded(path, MAX_MANIFEST_BYTES);
    return available(parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return available<Json>(null);
    if (error instanceof UnusableFile) return unavailable('unreadable', error.message);
    if (error instanceof JsonSyntaxError || error instanceof TypeError)
      return unavailable('malformed', 'not JSON');
    if (errnoOf(error) === null) throw error;
    return unavailable('unreadable', errnoOf(error) ?? 'unreadable');
  }
}

/** The engine's word that the run could not keep its records, passed through as it is. */
export function degradedReason(manifest: Available<Json>): string | null {
  const reason = isObject(manifest.value ?? undefined)
    ? (manifest.value as Map<string, Json>).get('persistence_degraded_reason')
    : null;
  return typeof reason === 'string' && reason !== '' ? reason : null;
}
