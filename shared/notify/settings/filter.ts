import { isSettingList, isSettingMap, type Setting } from './value.ts';

/** Which runs a notifier wants to hear of; null: all. */
export interface RunFilter {
  readonly kinds: readonly string[] | null;
  readonly ids: readonly string[] | null;
}

/** The kinds of execution that have ends to announce, in the engine that shares these settings. */
const KINDS: ReadonlySet<string> = new Set(['session', 'invocation', 'schedule_run', 'play']);

/**
 * Reads `notify.on_terminal.filter` (design 7): a filter that is not understood is refused with the recorded
 * reason, since guessing would announce too much or nothing. `undefined` is a filter that is not there.
 */
export function readFilter(filter: Setting | undefined): RunFilter | { readonly refused: string } {
  if (filter === undefined) return { kinds: null, ids: null };
  if (!isSettingMap(filter) || filter.size === 0) return { refused: 'filter_not_a_mapping' };
  if ([...filter.keys()].some((key) => key !== 'kinds' && key !== 'ids')) {
    return { refused: 'filter_has_unknown_keys' };
  }
  const kinds = wordsOf(filter.get('kinds'));
  if (kinds === undefined) return { refused: 'filter_kinds_not_a_list_of_strings' };
  if (kinds?.some((kind) => !KINDS.has(kind))) return { refused: 'filter_kinds_unsupported' };
  const ids = wordsOf(filter.get('ids'));
  if (ids === undefined || ids?.includes('')) return { refused: 'filter_ids_not_a_list_of_strings' };
  return { kinds, ids };
}

/** Whether a run passes; with both lists it has to be on both. */
export function admits(filter: RunFilter, runId: string, runKind: string): boolean {
  return (filter.kinds?.includes(runKind) ?? true) && (filter.ids?.includes(runId) ?? true);
}

/** Null where nothing is asked for, undefined where what is asked for is no list of words. */
function wordsOf(value: Setting | undefined): readonly string[] | null | undefined {
  if (value === undefined) return null;
  if (!isSettingList(value) || value.length === 0) return undefined;
  return value.every((item) => typeof item === 'string') ? value : undefined;
}
