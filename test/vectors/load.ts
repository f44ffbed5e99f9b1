import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Expected } from '../support/expected.ts';
import { type Json, JsonNumber, type JsonObject, parseJson } from '../support/json-tree.ts';

/** One recorded situation, as `data/GROUP.json` has it; placeholders are not filled. */
export interface Vector {
  id: string;
  title: string;
  kind: string;
  runId: string;
  mode: 'single' | 'sequence' | 'shape';
  record: JsonObject | null;
  raw: string | null;
  rawHex: string | null;
  otherRecords: Map<string, Json>;
  files: Map<string, Json>;
  jobsDirPresent: boolean;
  env: Map<string, string>;
  /** `members`: the marks of a group whose leader is gone. */
  process: { kind: string; mark: string; members?: string[] };
  lifecycle: Json;
  asUid: number | null;
  /** Whose `/proc/PID/stat` cannot be read: the recorded process's, or that of the first member of its group. */
  maskStat: 'pid' | 'member' | false;
  /** At least and at most about so many seconds for the call. */
  seconds: [number, number] | null;
  calls: string[][];
  /** What the kill is given beside the run. */
  killArgs?: string[];
  /** Its own copy: whoever reads it may change it. */
  expect: Map<string, Expected>;
}

export function dataFile(name: string): string {
  return fileURLToPath(new URL(`./data/${name}`, import.meta.url));
}

export function loadGroup(group: string): Vector[] {
  const vectors = parseJson(readFileSync(dataFile(`${group}.json`), 'utf8'));
  if (!Array.isArray(vectors)) throw new Error(`${group}.json is not an array`);
  return vectors.map((vector) => vectorIn(objectIn(vector)));
}

function vectorIn(vector: JsonObject): Vector {
  const process = objectIn(vector.get('process'));
  return {
    id: textIn(vector.get('id')),
    title: textIn(vector.get('title')),
    kind: textIn(vector.get('kind')),
    runId: textIn(vector.get('run_id')),
    mode: modeIn(vector.get('mode')),
    record: vector.has('record') ? objectIn(vector.get('record')) : null,
    raw: vector.has('raw') ? textIn(vector.get('raw')) : null,
    rawHex: vector.has('raw_hex') ? textIn(vector.get('raw_hex')) : null,
    otherRecords: objectIn(vector.get('other_records') ?? new Map()),
    files: objectIn(vector.get('files') ?? new Map()),
    jobsDirPresent: vector.get('jobs_dir') === 'present',
    env: new Map([...objectIn(vector.get('env') ?? new Map())].map(([key, value]) => [key, textIn(value)])),
    process: {
      kind: textIn(process.get('kind')),
      mark: textIn(process.get('marker') ?? 'own'),
      members: arrayIn(process.get('members') ?? []).map(textIn),
    },
    lifecycle: vector.get('lifecycle') ?? null,
    asUid: vector.has('as_uid') ? numberIn(vector.get('as_uid')) : null,
    maskStat: maskIn(vector.get('mask_stat')),
    seconds: secondsIn(vector.get('seconds')),
    calls: arrayIn(vector.get('calls') ?? []).map((call) => arrayIn(call).map(textIn)),
    killArgs: arrayIn(vector.get('kill_args') ?? []).map(textIn),
    expect: objectIn(vector.get('expect')),
  };
}

export function objectIn(value: Json | undefined): JsonObject {
  if (value instanceof Map) return value;
  throw new Error('an object was wanted');
}

export function textIn(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  throw new Error('a text was wanted');
}

export function numberIn(value: Json | undefined): number {
  if (value instanceof JsonNumber) return Number(value.text);
  throw new Error('a number was wanted');
}

function arrayIn(value: Json | undefined): Json[] {
  if (Array.isArray(value)) return value;
  throw new Error('an array was wanted');
}

function modeIn(value: Json | undefined): Vector['mode'] {
  if (value === undefined) return 'single';
  if (value === 'sequence' || value === 'shape') return value;
  throw new Error(`a mode that is not replayed here: ${String(value)}`);
}

function maskIn(value: Json | undefined): Vector['maskStat'] {
  if (value === undefined) return false;
  if (value === '$PID') return 'pid';
  if (value === 'member') return 'member';
  throw new Error(`a mask of a process that is not known: ${String(value)}`);
}

function secondsIn(value: Json | undefined): [number, number] | null {
  if (value === undefined) return null;
  const [least, most] = arrayIn(value);
  return [numberIn(least), numberIn(most)];
}
