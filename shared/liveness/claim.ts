import { pyFloat } from '../json/python.ts';
import { isObject, type Json, JsonNumber, type JsonObject } from '../json/value.ts';
import type { Origin } from '../process/table.ts';

/** What a record claims about its process: the facts a judgement compares with what is seen. */
export interface ProcessClaim {
  /** Null where the recorded pid cannot be asked about. */
  readonly pid: number | null;
  readonly createTime: number | 'not_recorded' | 'unusable';
  readonly startTicks: number | null;
  readonly origin: Origin | null;
}

/** The largest pid the system's type holds. */
const MAX_PID = 2 ** 31 - 1;

export function processClaimOf(record: JsonObject): ProcessClaim {
  return {
    pid: askablePid(record.get('pid')),
    createTime: createTimeOf(record.get('pid_create_time')),
    startTicks: integerOf(record.get('pid_start_ticks')),
    origin: originOf(record.get('origin')),
  };
}

/** An integer, not a boolean, above 1, that fits the system: anything else would ask about another process. */
function askablePid(value: Json | undefined): number | null {
  const pid = integerOf(value);
  return pid !== null && pid > 1 && pid <= MAX_PID ? pid : null;
}

function createTimeOf(value: Json | undefined): ProcessClaim['createTime'] {
  if (value === undefined || value === null) return 'not_recorded';
  return pyFloat(value) ?? 'unusable';
}

/** An `origin` of another shape names no place we know: every part of it is missing. */
function originOf(value: Json | undefined): Origin | null {
  if (value === undefined || value === null) return null;
  const origin = isObject(value) ? value : new Map<string, Json>();
  return {
    hostId: textOf(origin.get('host_id')),
    bootId: textOf(origin.get('boot_id')),
    pidNamespace: integerOf(origin.get('pid_namespace')),
  };
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function integerOf(value: Json | undefined): number | null {
  if (!(value instanceof JsonNumber) || !value.isInteger) return null;
  return Number.isSafeInteger(value.value) ? value.value : null;
}
