import { createHash } from 'node:crypto';
import { findSettingsFiles } from './find.ts';
import { type LoadedFile, loadSettingsFile } from './load.ts';
import { mergeSettings } from './merge.ts';
import { resolveOnTerminal, type SettingsCommand } from './resolve.ts';
import type { SettingMap } from './value.ts';

export type { SettingsCommand } from './resolve.ts';

export type ResolvedSettings = {
  readonly command: SettingsCommand;
  /** sha256 hex over the paths and bytes that produced it. */
  readonly configHash: string;
};

/**
 * The notifier that `settings.yaml` configures for one run, read anew at each call (ADR-0107 D7, design 7).
 * Never throws for what files hold: one that counts and cannot be read or parsed makes the whole unusable,
 * `settings_load_failed`, since what it would have said is not known.
 *
 * @param input.homeDir the user's home, whose `.lionagi/settings.yaml` lies under every project's
 * @param input.startDir where the search upward for a project's starts; null: the record's directory is of a
 *   type that cannot be used, so no search is possible
 */
export function resolveNotifySettings(input: {
  homeDir: string;
  startDir: string | null;
  runId: string;
  runKind: string;
}): ResolvedSettings {
  if (input.startDir === null) return { command: LOAD_FAILED, configHash: hashOf([]) };
  const files = findSettingsFiles(input.homeDir, input.startDir).map(loadSettingsFile);
  const settings = layered(files);
  const command = settings === null ? LOAD_FAILED : resolveOnTerminal(settings, input.runId, input.runKind);
  return { command, configHash: hashOf(files) };
}

const LOAD_FAILED: SettingsCommand = { kind: 'unusable', reason: 'settings_load_failed' };

function layered(files: readonly LoadedFile[]): SettingMap | null {
  return files.reduce<SettingMap | null>(
    (lower, { settings }) => (lower === null || settings === null ? null : mergeSettings(lower, settings)),
    new Map(),
  );
}

function hashOf(files: readonly LoadedFile[]): string {
  const parts = files.map(({ path, fingerprint }) => [path, fingerprint]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
