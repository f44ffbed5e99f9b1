import { join } from 'node:path';
import * as z from 'zod/mini';
import { errnoOf } from '../errno.ts';
import { readBounded, UnusableFile } from '../record/read.ts';

/** Something the supervisor or `lion` does without: `code` is closed and for programs, the rest for people. */
export interface Degradation {
  readonly code: string;
  readonly cause: string;
  readonly cure: string;
}

const COUNT = z.number();
/** ISO-8601 UTC; null before the first one. */
const TIME = z.nullable(z.string());

const HEALTH = z.object({
  pid: z.number(),
  version: z.string(),
  index_version: z.nullable(z.number()),
  started_at: z.string(),
  updated_at: z.string(),
  jobs_dir: z.string(),
  runs: COUNT,
  open: COUNT,
  /** Runs waiting to be looked at. */
  queue: COUNT,
  sweeps: z.object({ names_at: TIME, stats_at: TIME, probed_at: TIME }),
  watches: COUNT,
  notices: z.object({ under_way: COUNT, owed: COUNT, retrying: COUNT, parked: COUNT, unknown: COUNT }),
  degraded: z.array(z.object({ code: z.string(), cause: z.string(), cure: z.string() })),
});

/** What the supervisor says of itself in `<state dir>/health.json`, every 15 s and when `degraded` changes. */
export type Health = z.infer<typeof HEALTH>;

const MAX_HEALTH_BYTES = 256 * 1024;

export function healthPathOf(stateDir: string): string {
  return join(stateDir, 'health.json');
}

/**
 * The last health that was written; members this version does not know are left out. `null`: there is none.
 * `unreadable`: there is something, and it is no health of a form this version knows.
 */
export function readHealth(stateDir: string): Health | null | 'unreadable' {
  try {
    const { bytes } = readBounded(healthPathOf(stateDir), MAX_HEALTH_BYTES);
    const read = HEALTH.safeParse(JSON.parse(bytes.toString('utf8')));
    return read.success ? read.data : 'unreadable';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return null;
    const known = error instanceof SyntaxError || error instanceof UnusableFile || errnoOf(error) !== null;
    if (!known) throw error;
    return 'unreadable';
  }
}
