import { signatureOf } from '../../store/signature.ts';
import { findSettingsFiles } from './find.ts';

/** Differs when other settings files count, or one of them was written; a few stats, nothing is read. */
export function settingsSignature(homeDir: string, startDir: string | null): string {
  if (startDir === null) return '';
  return findSettingsFiles(homeDir, startDir)
    .map((path) => `${path}\0${signatureOf(path)}`)
    .join('\0');
}
