import { type Expected, type ExpectedObject, isExpectedObject } from '../support/expected.ts';
import { type Json, JsonNumber, type JsonObject } from '../support/json-tree.ts';
import { pythonFloat } from '../support/python-json.ts';

/** What the placeholders of a vector stand for in one world. */
export interface Facts {
  pid: number;
  pgid: number;
  createTime: number;
  /** The time at which the world was laid out, milliseconds since the epoch. */
  nowMs: number;
  /** $RUN, $JOBDIR and the like, by name without the dollar. */
  names: Record<string, string>;
}

/** The text with its placeholders filled. */
export function fillText(text: string, facts: Facts): string {
  return text
    .replace(/\$REPEAT\((.),([0-9]+)\)/gsu, (_, what: string, times: string) => what.repeat(Number(times)))
    .replace(/\$(LIONAGI_HOME|FAKE_LI|JOBDIR|PYTHON|HOME|JOBS|WORK|CWD|BIN|RUN)/g, (all, name: string) => {
      return facts.names[name] ?? all;
    });
}

/** A value to lay out. */
export function fillValue(value: Json, facts: Facts): Json {
  if (typeof value === 'string') return wholePlaceholder(value, facts) ?? fillText(value, facts);
  if (Array.isArray(value)) return value.map((item) => fillValue(item, facts));
  if (value instanceof Map) return fillObject(value, facts);
  return value;
}

export function fillObject(object: JsonObject, facts: Facts): JsonObject {
  return new Map([...object].map(([key, item]) => [fillText(key, facts), fillValue(item, facts)]));
}

/** job.json as text: a quoted placeholder stands for the JSON value. */
export function fillRaw(raw: string, facts: Facts): string {
  const valued = raw.replace(/"(\$[A-Z_]+[^"\\]*)"/g, (all, text: string) => {
    const value = wholePlaceholder(text, facts);
    if (value instanceof JsonNumber) return value.text;
    return typeof value === 'string' ? JSON.stringify(value) : all;
  });
  return fillText(valued, facts);
}

/** An expectation. `timeOfCall` stands where the call took the time itself. */
export function fillExpected(value: Expected, facts: Facts, timeOfCall: Expected, key = ''): Expected {
  if (typeof value === 'string') return expectedText(value, facts, timeOfCall, key);
  if (Array.isArray(value)) return value.map((item) => fillExpected(item, facts, timeOfCall));
  if (isExpectedObject(value)) return fillExpectedObject(value, facts, timeOfCall);
  return value;
}

export function fillExpectedObject(
  object: ExpectedObject,
  facts: Facts,
  timeOfCall: Expected,
): ExpectedObject {
  const filled = [...object].map(([key, item]): [string, Expected] => [
    fillText(key, facts),
    fillExpected(item, facts, timeOfCall, key),
  ]);
  return new Map(filled);
}

function expectedText(text: string, facts: Facts, timeOfCall: Expected, key: string): Expected {
  // Only an end is ever stamped by a call; a submission stays as it was laid out.
  if (text === '$NOW' && key !== 'submitted_at') return timeOfCall;
  const number = /^\$(?:INT|FLOAT):(.*)$/.exec(text);
  if (number) return new JsonNumber(number[1] === 'nan' ? 'NaN' : (number[1] ?? ''));
  return wholePlaceholder(text, facts) ?? fillText(text, facts);
}

function wholePlaceholder(text: string, facts: Facts): Json {
  if (text === '$PID') return new JsonNumber(String(facts.pid));
  if (text === '$PGID') return new JsonNumber(String(facts.pgid));
  const start = /^\$(STR_)?CREATE_TIME([+-][0-9.]+)?$/.exec(text);
  if (start) {
    const written = pythonFloat(facts.createTime + Number(start[2] ?? 0));
    return start[1] ? written : new JsonNumber(written);
  }
  const now = /^\$NOW(?:-([0-9.]+))?(?::([a-z0-9]+))?$/.exec(text);
  return now ? isoTime(facts.nowMs - Number(now[1] ?? 0) * 1000, now[2]) : null;
}

/** The forms in which the vectors write a time. */
function isoTime(ms: number, form: string | undefined): string {
  const utc = new Date(ms).toISOString(); // 2026-08-01T12:00:00.250Z
  const naive = `${utc.slice(0, -1)}000`;
  if (form === undefined) return `${naive}+00:00`;
  if (form === 'naive') return naive;
  if (form === 'z') return `${naive}Z`;
  if (form === 'plus2') return `${new Date(ms + 7_200_000).toISOString().slice(0, -1)}000+02:00`;
  if (form === 'basic') return `${utc.slice(0, 19).replaceAll(/[-:]/g, '')}+0000`;
  if (form === 'space') return `${naive.replace('T', ' ')}+00:00`;
  throw new Error(`a form of time that is not known: ${form}`);
}
