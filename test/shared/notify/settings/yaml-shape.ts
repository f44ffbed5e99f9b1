import { parseSettingsYaml } from '../../../../shared/notify/settings/parse-yaml.ts';
import { isSettingList, isSettingMap, type Setting } from '../../../../shared/notify/settings/value.ts';

/** What PyYAML makes of a text, in the words of `shapeOf`; 'refused' where it raises. */
export const PY_YAML = `
import io, yaml
def shape(v):
    if v is None or isinstance(v, (bool, str)): return v
    if isinstance(v, list): return [shape(x) for x in v]
    if isinstance(v, dict):
        words = {k: shape(x) for k, x in v.items() if isinstance(k, str)}
        return {"map": sorted(words.items()), "others": len(words) < len(v)}
    return {"truthy": bool(v)}
def answer(text):
    # As a file opened for text: line breaks of every sort become one.
    file = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogatepass")), encoding="utf-8")
    try: return {"value": shape(yaml.safe_load(file))}
    except Exception: return "refused"
`;

/** A value in the terms both sides can be compared in: what is no word keeps only its truth. */
export function shapeOf(value: Setting): unknown {
  if (isSettingList(value)) return value.map(shapeOf);
  if (!isSettingMap(value)) return value !== null && typeof value === 'object' ? { ...value } : value;
  const words = [...value].filter((entry): entry is [string, Setting] => typeof entry[0] === 'string');
  words.sort(([one], [other]) => (one < other ? -1 : 1));
  return { map: words.map(([key, each]) => [key, shapeOf(each)]), others: words.length < value.size };
}

export function parsedShape(text: string): unknown {
  try {
    return { value: shapeOf(parseSettingsYaml(text)) };
  } catch {
    return 'refused';
  }
}
