import { expect } from 'vitest';
import { type Envelope, type LionCall, type LionRun, runLion } from './lion.ts';
import type { World } from './world.ts';

/** ADR-0106 D3: closed. */
export const ERROR_KINDS = ['not_found', 'invalid_input', 'conflict', 'unavailable', 'internal'];

/** Calls `lion --machine ...` and returns its envelope, having held it to the contract's form. */
export async function ask(
  world: World,
  args: readonly string[],
  call: Partial<LionCall> = {},
): Promise<Envelope> {
  return envelopeOf(await runLion(['--machine', ...args], { env: world.env, cwd: world.cwd, ...call }));
}

/** The data of an answer that must not be a refusal. */
export async function askData(
  world: World,
  args: readonly string[],
  call: Partial<LionCall> = {},
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
): Promise<any> {
  const envelope = await ask(world, args, call);
  if (!envelope.ok) throw new Error(`refused: ${JSON.stringify(envelope.error)}`);
  return envelope.data;
}

/**
 * Everything ADR-0106 says of a call that reached the dispatcher: one JSON object and one newline on stdout and
 * nothing else (D1), the version (D2), exactly one of data and error, a kind of the closed set (D3), exit 0 (D8).
 */
export function envelopeOf(run: LionRun): Envelope {
  const told = `${run.stdout.slice(0, 400)} | ${run.stderr.slice(-600)}`;
  expect([run.exitCode, run.signal], told).toEqual([0, null]);
  expect(run.stdout, told).toMatch(/^\{[\x20-\x7e]*\}\n$/);
  const envelope = JSON.parse(run.stdout) as Envelope;
  expect(Object.keys(envelope), told).toEqual(['ok', 'contract_version', 'data', 'error']);
  expect(envelope.contract_version, told).toBe(1);
  if (envelope.ok === true) {
    expect(envelope.error, told).toBeNull();
    expect(isPlainObject(envelope.data), told).toBe(true);
    return envelope;
  }
  expect(envelope.ok, told).toBe(false);
  expect(envelope.data, told).toBeNull();
  expect(Object.keys(envelope.error ?? {}), told).toEqual(['kind', 'message', 'detail']);
  expect(ERROR_KINDS, told).toContain(envelope.error?.kind);
  expect(envelope.error?.message, told).toMatch(/\S/);
  expect(envelope.error?.detail === null || isPlainObject(envelope.error?.detail), told).toBe(true);
  return envelope;
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
