import { admits, readFilter } from './filter.ts';
import { needsShell } from './shell-features.ts';
import { splitWords } from './split-words.ts';
import { isSettingList, isSettingMap, isTruthySetting, type Setting, type SettingMap } from './value.ts';

export type SettingsCommand =
  /** Nobody asked, or it is switched off, or its filter does not name this run: chosen silence. */
  | { readonly kind: 'none' }
  /** Words to start, before `{run_id}` and its kin are put in. */
  | { readonly kind: 'argv'; readonly argv: readonly string[] }
  /** Asked for and not to be had; `reason` is a stable code. */
  | { readonly kind: 'unusable'; readonly reason: string };

/**
 * What `notify.on_terminal` of merged settings means for one run (ADR-0107 D7, design 7): a command line as a
 * string, or a mapping `{enabled, filter, adapter}`. Reasons are those recorded from the Python engine, the
 * first fault in its order; unlike it, a filter that does not name the run is applied.
 */
export function resolveOnTerminal(settings: SettingMap, runId: string, runKind: string): SettingsCommand {
  const notify = settings.get('notify');
  const onTerminal = isSettingMap(notify) ? notify.get('on_terminal') : null;
  if (onTerminal === undefined || onTerminal === null) return NONE;
  if (typeof onTerminal === 'string') return resolveString(onTerminal);
  if (isSettingMap(onTerminal)) return resolveMapping(onTerminal, runId, runKind);
  return unusable('on_terminal_not_string_or_mapping');
}

const NONE: SettingsCommand = { kind: 'none' };

function unusable(reason: string): SettingsCommand {
  return { kind: 'unusable', reason };
}

/** What Python calls white space, which is not what JavaScript trims: its separators count, a BOM does not. */
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

function resolveString(command: string): SettingsCommand {
  if (BLANK.test(command)) return unusable('on_terminal_command_is_empty');
  if (needsShell(command)) return unusable('on_terminal_command_requires_shell_features');
  const argv = splitWords(command);
  return argv === null ? unusable('on_terminal_command_not_parseable') : nonEmpty(argv);
}

function nonEmpty(argv: readonly string[]): SettingsCommand {
  return argv.length === 0 ? unusable('on_terminal_command_is_empty') : { kind: 'argv', argv };
}

function resolveMapping(config: SettingMap, runId: string, runKind: string): SettingsCommand {
  if (config.get('enabled') === false) return NONE;
  const filter = readFilter(config.get('filter'));
  if ('refused' in filter) return unusable(filter.refused);
  const adapter = config.get('adapter');
  if (!isSettingMap(adapter)) {
    // A mapping that neither asks to be enabled nor names an adapter has asked for nothing.
    return isTruthySetting(config.get('enabled')) ? unusable('enabled_without_adapter') : NONE;
  }
  const command = resolveAdapter(adapter);
  return isMisconfigured(command) || admits(filter, runId, runKind) ? command : NONE;
}

function resolveAdapter(adapter: SettingMap): SettingsCommand {
  const kind = adapter.get('kind');
  if (kind === 'exec') return resolveExec(adapter.get('argv'));
  if (kind !== 'python') return unusable('adapter_kind_unsupported');
  const ref = adapter.get('ref');
  if (typeof ref !== 'string' || !ref.includes(':')) return unusable('python_adapter_ref_invalid');
  return unusable(PYTHON_ADAPTER);
}

/** Valid, but a call into a Python process that nobody here is. */
const PYTHON_ADAPTER = 'configured_notifier_has_no_delivery_command';

function resolveExec(argv: Setting | undefined): SettingsCommand {
  if (!isSettingList(argv) || !argv.every((word) => typeof word === 'string')) {
    return unusable('exec_adapter_argv_not_a_list_of_strings');
  }
  return nonEmpty(argv);
}

/** A fault is reported for every run; a valid notifier of the wrong sort only for those it would announce. */
function isMisconfigured(command: SettingsCommand): boolean {
  return command.kind === 'unusable' && command.reason !== PYTHON_ADAPTER;
}
