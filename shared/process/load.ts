import type { ProcessTable } from './table.ts';

/** The table of this system; macOS needs the native binding, Linux reads /proc. */
export async function loadProcessTable(): Promise<ProcessTable> {
  if (process.platform === 'darwin') return (await import('./darwin.ts')).darwinProcesses;
  return (await import('./linux.ts')).linuxProcesses;
}
