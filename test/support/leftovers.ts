import { readdir, readFile } from 'node:fs/promises';
import { waitUntil } from './wait-until.ts';

export interface Leftover {
  pid: number;
  command: string;
}

/**
 * The processes whose environment names this directory and that do not end by themselves within the bound:
 * whatever a call under test started and left behind, however deep and in whatever session.
 */
export async function leftoversOf(root: string, withinMs = 3_000): Promise<Leftover[]> {
  let left: Leftover[] = [];
  const none = async () => {
    left = await processesNaming(root);
    return left.length === 0;
  };
  try {
    await waitUntil('no process to name the directory', none, withinMs);
  } catch {
    return left;
  }
  return [];
}

export function endLeftovers(left: readonly Leftover[]): void {
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

async function processesNaming(root: string): Promise<Leftover[]> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const looked = await Promise.all(pids.map((pid) => leftoverIn(pid, root)));
  return looked.filter((found) => found !== null);
}

async function leftoverIn(pid: string, root: string): Promise<Leftover | null> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    if (!environment.includes(`=${root}/`)) return null;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
    return { pid: Number(pid), command };
  } catch {
    return null; // gone meanwhile, or another user's: not one of ours
  }
}
