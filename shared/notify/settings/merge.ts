import { isSettingList, isSettingMap, type Setting, type SettingMap } from './value.ts';

/**
 * One file's settings laid over another's (design 7), as recorded: mappings merge key by key, lists are
 * joined with the lower ones first, and anything else replaces, an explicit null too.
 */
export function mergeSettings(lower: SettingMap, upper: SettingMap): SettingMap {
  const merged = new Map(lower);
  for (const [key, value] of upper) merged.set(key, mergeValue(lower.get(key), value));
  return merged;
}

function mergeValue(lower: Setting | undefined, upper: Setting): Setting {
  if (isSettingMap(lower) && isSettingMap(upper)) return mergeSettings(lower, upper);
  return isSettingList(lower) && isSettingList(upper) ? [...lower, ...upper] : upper;
}
