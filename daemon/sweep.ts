import { opendir } from 'node:fs/promises';
import type { Home } from '../shared/store/home.ts';
import { runDirOf } from '../shared/store/home.ts';
import { recordSignatureOf } from '../shared/store/signature.ts';
import { inSlices } from './loop/in-slices.ts';
import type { Roster } from './roster.ts';

/** Read this many entries at a time, so that a long listing never holds the loop. */
const ENTRIES_AT_ONCE = 1024;

/**
 * Lists the store and names every run that came or went since, newest first. A root that is not there has no
 * names; @throws the system's error where it cannot be listed: that is no empty store.
 */
export async function sweepNames(
  home: Home,
  roster: Roster,
  signal: AbortSignal,
  look: (runId: string) => void,
): Promise<void> {
  const found = await namesIn(home.jobsDir, signal);
  if (found === null) return;
  await inSlices(newestFirst(found), signal, (name) => {
    if (!roster.has(name)) look(name);
  });
  await inSlices(roster.names(), signal, (name) => {
    if (!found.has(name)) look(name);
  });
}

/**
 * Looks at the signature of every record and names the runs whose record is not the one last read, and those that
 * had ended and were not yet history.
 */
export async function sweepStats(
  home: Home,
  roster: Roster,
  signal: AbortSignal,
  look: (runId: string) => void,
): Promise<void> {
  await inSlices(roster.names(), signal, (name) => {
    const changed = recordSignatureOf(runDirOf(home, name)) !== roster.signatureOf(name);
    if (changed || !roster.isSettled(name)) look(name);
  });
}

/** Ids begin with their time to the second; as many of them as begin with this much are sorted in one go. */
const HOUR_CHARS = 'YYYYMMDDTHH'.length;

/** Hour by hour, since sorting 100,000 names at once would hold the loop for a tenth of a second. */
function* newestFirst(names: Iterable<string>): Generator<string> {
  const hours = new Map<string, string[]>();
  for (const name of names) {
    const hour = name.slice(0, HOUR_CHARS);
    const sofar = hours.get(hour);
    if (sofar === undefined) hours.set(hour, [name]);
    else sofar.push(name);
  }
  for (const hour of [...hours.keys()].sort().reverse()) yield* (hours.get(hour) ?? []).sort().reverse();
}

async function namesIn(jobsDir: string, signal: AbortSignal): Promise<Set<string> | null> {
  const names = new Set<string>();
  for await (const entry of await opendir(jobsDir, { bufferSize: ENTRIES_AT_ONCE })) {
    if (signal.aborted) return null;
    if (entry.isDirectory() || entry.isSymbolicLink()) names.add(entry.name);
  }
  return names;
}
