import { type Jsonable, toJson } from '../json/value.ts';
import { LINE_STYLE, writeJson } from '../json/write.ts';
import type { LionError } from './errors.ts';

/** ADR-0106 D2: one integer; raised only by what could break a conforming consumer. */
export const CONTRACT_VERSION = 1;
export const MIN_SUPPORTED_VERSION = 1;

/** ADR-0106 D3: exactly one of data and error is non-null. One line of ASCII, with its newline. */
export function okEnvelope(data: Readonly<Record<string, Jsonable>>): string {
  return line({ ok: true, contract_version: CONTRACT_VERSION, data, error: null });
}

export function errorEnvelope(error: LionError): string {
  const { kind, message, detail } = error;
  return line({
    ok: false,
    contract_version: CONTRACT_VERSION,
    data: null,
    error: { kind, message, detail },
  });
}

function line(envelope: Jsonable): string {
  return `${writeJson(toJson(envelope), LINE_STYLE)}\n`;
}
