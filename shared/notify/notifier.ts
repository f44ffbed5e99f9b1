import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { Engine } from '../engine.ts';
import { isDirectory } from '../file-kind.ts';
import { JsonSyntaxError, parseJson } from '../json/parse.ts';
import { pyTruthy } from '../json/python.ts';
import { type Json, JsonNumber, type JsonObject } from '../json/value.ts';

/** What a child's hook was told on its command line; all of it may be missing. */
export interface HookArguments {
  readonly command?: string | undefined;
  readonly target?: string | undefined;
  readonly sender?: string | undefined;
}

/** Where the command came from; one that only a hook or an environment knows cannot be retried later. */
export type NotifierSource = 'hook' | 'record' | 'environment' | 'settings';

interface Named {
  readonly source: NotifierSource;
  /** Names the configuration that gave this answer, so that a parked notice wakes when it changes. */
  readonly configHash: string;
}

export type Notifier =
  /** Nobody asked for a notice: a valid configuration, not a failure. */
  | { readonly kind: 'none'; readonly configHash: string }
  /** Asked for and not to be had; every reason at once. */
  | ({ readonly kind: 'unusable'; readonly reason: string; readonly program: string | null } & Named)
  | ({
      readonly kind: 'command';
      readonly template: readonly string[];
      readonly target: string;
      readonly sender: string;
      readonly cwd: string;
    } & Named);

/** The notifier configured for a run, read anew at each call (ADR-0107 D7: one configuration path). */
export async function resolveNotifier(
  engine: Engine,
  runId: string,
  record: JsonObject,
  hook: HookArguments = {},
): Promise<Notifier> {
  const target =
    hook.target || textOf(record.get('notify_target')) || engine.env.LIONAGI_MCP_NOTIFY_TARGET || '';
  const sender =
    hook.sender || textOf(record.get('notify_sender')) || engine.env.LIONAGI_MCP_NOTIFY_SENDER || '';
  const found = await findTemplate(engine, runId, record, hook);
  if (typeof found === 'string') return { kind: 'none', configHash: found };
  const { template, reason, ...named } = found;
  if (template === null) return { kind: 'unusable', reason: reason ?? 'unknown', program: null, ...named };
  const place = deliveryCwd(engine, record);
  const blocking = [
    place.reason,
    sender === '' && template.some((token) => token.includes('{sender}'))
      ? 'delivery_command_needs_a_sender_and_none_was_given'
      : null,
  ].filter((each) => each !== null);
  if (blocking.length > 0) {
    return { kind: 'unusable', reason: blocking.join(', '), program: template[0] ?? null, ...named };
  }
  return { kind: 'command', template, target, sender, cwd: place.cwd, ...named };
}

/** What was found; where there is nothing, the hash of the settings that say so. */
interface Found extends Named {
  readonly template: readonly string[] | null;
  readonly reason: string | null;
}

async function findTemplate(
  engine: Engine,
  runId: string,
  record: JsonObject,
  hook: HookArguments,
): Promise<Found | string> {
  const named: readonly (readonly [NotifierSource, Json | undefined])[] = [
    ['hook', hook.command],
    ['record', record.get('notify_command')],
    ['environment', engine.env.LIONAGI_MCP_NOTIFY_COMMAND],
  ];
  for (const [source, command] of named) {
    if (!pyTruthy(command)) continue;
    return { source, configHash: hashOf([source, describe(command)]), ...parseCommand(command) };
  }
  const { resolveNotifySettings } = await import('./settings/settings.ts');
  const startDir = settingsStart(engine, record);
  // Every run of this store is a session to the settings' filter, whatever verb started it.
  const { command, configHash } = resolveNotifySettings({
    homeDir: engine.home.userDir,
    startDir,
    runId,
    runKind: 'session',
  });
  if (command.kind === 'none') return configHash;
  const template = command.kind === 'argv' ? command.argv : null;
  return {
    source: 'settings',
    configHash,
    template,
    reason: command.kind === 'unusable' ? command.reason : null,
  };
}

function parseCommand(command: Json | undefined): { template: string[] | null; reason: string | null } {
  let parsed: Json;
  try {
    parsed = typeof command === 'string' ? parseJson(command) : null;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { template: null, reason: 'delivery_command_is_not_valid_json' };
  }
  if (!Array.isArray(parsed) || !parsed.every((token): token is string => typeof token === 'string')) {
    return { template: null, reason: 'delivery_command_is_not_a_list_of_strings' };
  }
  return parsed.length === 0
    ? { template: null, reason: 'delivery_command_is_empty' }
    : { template: parsed, reason: null };
}

/** Where the search for settings starts; null where the record names something that is no directory name. */
export function settingsStart(engine: Engine, record: JsonObject): string | null {
  for (const key of ['cwd', 'submit_cwd']) {
    const named = record.get(key);
    if (!pyTruthy(named)) continue;
    return typeof named === 'string' ? absolute(engine, named) : null;
  }
  return engine.cwd;
}

/**
 * The directory is part of the notice: a notifier may sign as whoever owns the place it runs in. So a place
 * that was named and cannot be used is a refusal, never a fall-back; only a record without the key inherits.
 */
function deliveryCwd(engine: Engine, record: JsonObject): { cwd: string; reason: string | null } {
  const override = engine.env.LIONAGI_MCP_NOTIFY_CWD;
  if (!override && !record.has('submit_cwd')) return { cwd: engine.cwd, reason: null };
  const named = override || record.get('submit_cwd');
  if (!pyTruthy(named)) return { cwd: engine.cwd, reason: 'delivery_cwd_unavailable_at_submit' };
  const cwd = typeof named === 'string' ? absolute(engine, named) : null;
  if (cwd === null || !isDirectory(cwd))
    return { cwd: engine.cwd, reason: 'delivery_cwd_is_not_a_directory' };
  return { cwd, reason: null };
}

/** Not normalised: a link followed by `..` leads elsewhere than the text says. */
function absolute(engine: Engine, path: string): string {
  return isAbsolute(path) ? path : `${engine.cwd}/${path}`;
}

/** A number written where a word belongs is still what the submitter meant. */
export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value instanceof JsonNumber ? value.text : '';
}

function describe(command: Json | undefined): string {
  return typeof command === 'string' ? command : 'not text';
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}
