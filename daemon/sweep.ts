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
  const came = [...found].filter((name) => !roster.has(name)).sort();
  await inSlices(came.reverse(), signal, look);
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

async function namesIn(jobsDir: string, signal: AbortSignal): Promise<Set<string> | null> {
  const names = new Set<string>();
  for await (const entry of await opendir(jobsDir, { bufferSize: ENTRIES_AT_ONCE })) {
    if (signal.aborted) return null;
    if (entry.isDirectory() || entry.isSymbolicLink()) names.add(entry.name);
  }
  return names;
}
