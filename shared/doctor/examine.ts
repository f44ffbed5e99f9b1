import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../engine.ts';
import { errnoOf } from '../errno.ts';
import { type Check, type Finding, fault, unknown } from './finding.ts';
import { bootIdentity, descriptors, namespace, watches } from './machine-checks.ts';
import { index, li, notifier, supervisor } from './program-checks.ts';
import { fileClock, filesystem, lock, permissions, renames, storeDirectory } from './store-checks.ts';

/** No check begins later than this: with what the last one may take, an answer comes within 10 s. */
const BEGIN_WITHIN_MS = 5_000;
const CHECK_TIMEOUT_MS = 4_000;

const CHECKS: readonly (readonly [name: string, check: Check])[] = [
  ['store', storeDirectory],
  ['permissions', permissions],
  ['filesystem', filesystem],
  ['rename', renames],
  ['file_clock', fileClock],
  ['lock', lock],
  ['boot', bootIdentity],
  ['namespace', namespace],
  ['watches', watches],
  ['descriptors', descriptors],
  ['supervisor', supervisor],
  ['index', index],
  ['li', li],
  ['notifier', notifier],
];

/** Looks at what a store needs, one thing after the other, and leaves nothing behind. */
export async function examine(engine: Engine): Promise<Finding[]> {
  const startedMs = performance.now();
  const scratch = makeScratch(engine);
  const findings: Finding[] = [];
  try {
    for (const [name, check] of CHECKS) {
      if (performance.now() - startedMs > BEGIN_WITHIN_MS)
        findings.push(unknown(name, 'no time was left for it'));
      else findings.push(...[await bounded(name, check, { engine, scratch })].flat());
    }
  } finally {
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true });
  }
  return findings;
}

/** A check that fails is a finding, and so is one that does not end. */
async function bounded(name: string, check: Check, place: Parameters<Check>[0]) {
  const lifetime = new AbortController();
  const engine = { ...place.engine, signal: AbortSignal.any([place.engine.signal, lifetime.signal]) };
  const late = new Promise<Finding>((resolve) => {
    const end = (): void => resolve(unknown(name, `no answer within ${CHECK_TIMEOUT_MS / 1000} s`));
    setTimeout(end, CHECK_TIMEOUT_MS).unref();
  });
  try {
    return await Promise.race([Promise.resolve(check({ ...place, engine })), late]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fault(name, `could not be looked at: ${why}`, 'see the rest; a fault elsewhere may be its cause');
  } finally {
    lifetime.abort();
  }
}

/** Beside the supervisor's files: never among runs. Null where there is no store yet or nothing can be written. */
function makeScratch({ home }: Engine): string | null {
  if (statSync(home.jobsDir, { throwIfNoEntry: false }) === undefined) return null;
  try {
    mkdirSync(home.stateDir, { recursive: true, mode: 0o700 });
    return mkdtempSync(join(home.stateDir, 'doctor-'));
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}
