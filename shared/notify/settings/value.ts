/**
 * A settings value as far as a notifier needs it. Numbers, dates, bytes and sets are never a command, a word
 * or an id, so all that is kept of them is whether Python would call them true.
 */
export type Setting = null | boolean | string | OpaqueSetting | readonly Setting[] | SettingMap;

/** Keys that are not strings stay apart from every string: the key `5` is not the key `"5"`. */
export type SettingMap = ReadonlyMap<SettingKey, Setting>;
export type SettingKey = null | boolean | string | OpaqueSetting;

export class OpaqueSetting {
  constructor(readonly truthy: boolean) {}
}

export function isSettingMap(value: Setting | undefined): value is SettingMap {
  return value instanceof Map;
}

export function isSettingList(value: Setting | undefined): value is readonly Setting[] {
  return Array.isArray(value);
}

/** Truth as Python has it: null, false, empty text, lists and mappings and every zero are false. */
export function isTruthySetting(value: Setting | undefined): boolean {
  if (value === undefined || value === null || typeof value === 'boolean') return value === true;
  if (value instanceof OpaqueSetting) return value.truthy;
  if (typeof value === 'string') return value !== '';
  return isSettingList(value) ? value.length > 0 : value.size > 0;
}
