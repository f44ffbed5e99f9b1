import type { ProcessGroups } from './groups.ts';
import type { ProcessTable } from './table.ts';

/** The table of this system; macOS needs the native binding, Linux reads /proc. */
export async function loadProcessTable(): Promise<ProcessTable> {
  if (process.platform === 'darwin') return (await import('./darwin.ts')).darwinProcesses;
  return (await import('./linux.ts')).linuxProcesses;
}

/** @throws where the native binding cannot be loaded: nothing may be signalled then. */
export async function loadProcessGroups(): Promise<ProcessGroups> {
  if (process.platform === 'darwin') return (await import('./darwin-groups.ts')).darwinGroups;
  return (await import('./linux-groups.ts')).linuxGroups;
}
