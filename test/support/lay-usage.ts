import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { INDEX_VERSION } from '../../shared/version.ts';
import type { World } from './world.ts';

/** A sample as the index holds it; what is left out is `12.3 %, 340 MB, 3 processes, sampled now`. */
export interface LaidSample {
  readonly run_id: string;
  readonly sampled_ms?: unknown;
  readonly cpu_percent?: unknown;
  readonly rss_bytes?: unknown;
  readonly peak_rss_bytes?: unknown;
  readonly processes?: unknown;
}

export function indexFileOf(world: World): string {
  return join(world.lionagiHome, 'mcp', 'liond', 'index.sqlite3');
}

/** Lays an index with these samples, as the supervisor leaves it; returns its path. */
export function layUsage(world: World, samples: readonly LaidSample[], version = INDEX_VERSION): string {
  const file = indexFileOf(world);
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  const index = new Database(file);
  index.pragma('journal_mode = WAL');
  index.exec(
    `CREATE TABLE usage (run_id TEXT PRIMARY KEY, sampled_ms INTEGER, cpu_percent REAL, rss_bytes INTEGER,
     peak_rss_bytes INTEGER, processes INTEGER)`,
  );
  index.pragma(`user_version = ${version}`);
  const insert = index.prepare('INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?)');
  for (const sample of samples) {
    const all = { ...USUAL, sampled_ms: Date.now(), ...sample };
    insert.run(all.run_id, all.sampled_ms, all.cpu_percent, all.rss_bytes, all.peak_rss_bytes, all.processes);
  }
  index.close();
  return file;
}

const MB = 1024 * 1024;
const USUAL = { cpu_percent: 12.3, rss_bytes: 340 * MB, peak_rss_bytes: 512 * MB, processes: 3 };
