import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { World } from './world.ts';

/** `liond.yaml` of the world's store. */
export function configure(world: World, text: string): void {
  const directory = dirname(world.jobs);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'liond.yaml'), text);
}

/** Retries within a second of each other and no spread over hours: a test sees all of them. */
export const FAST_RETRIES = 'backoff_base_seconds: 0.05, backoff_cap_seconds: 0.3, lasts_hours: 0';
