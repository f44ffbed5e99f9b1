import { describe, expect, it } from 'vitest';
import { lifecycleOf } from '../../../shared/contract/lifecycle.ts';
import { type Jsonable, type JsonObject, toJson } from '../../../shared/json/value.ts';
import { derive } from '../../../shared/run/derive.ts';

const ENDED = { run_id: 'r', spawn_state: 'started', finished_at: '2026-08-01T12:05:00+00:00' };

interface Row {
  readonly record: Readonly<Record<string, Jsonable>>;
  readonly alive?: boolean;
  readonly degraded?: string;
  readonly says: Readonly<Record<string, Jsonable>>;
}

const ROWS: readonly Row[] = [
  { record: { spawn_state: 'preparing', status: 'running' }, says: { state: 'submitted' } },
  { record: { spawn_state: 'started', status: 'running' }, alive: true, says: { state: 'working' } },
  {
    record: { spawn_state: 'started', status: 'awaiting-host' },
    alive: true,
    says: { state: 'input_required', reason: 'host-execution' },
  },
  {
    record: { spawn_state: 'started', status: 'awaiting-approval' },
    alive: true,
    says: { state: 'input_required', reason: 'approval' },
  },
  {
    record: { spawn_state: 'started', status: 'running' },
    says: { state: 'working', qualifier: 'possibly-orphaned' },
  },
  { record: { ...ENDED, status: 'completed' }, says: { state: 'completed' } },
  {
    record: { ...ENDED, status: 'completed-prepare-only' },
    says: { state: 'completed', qualifier: 'prepare-only' },
  },
  {
    record: { ...ENDED, status: 'degraded' },
    degraded: 'no database',
    says: { state: 'completed', qualifier: 'degraded', reason: 'no database' },
  },
  { record: { ...ENDED, status: 'failed', reason_code: 'x' }, says: { state: 'failed', code: 'x' } },
  {
    record: { ...ENDED, status: 'failed', failure_cause: { class: 'ProviderQuotaError', retryable: true } },
    says: { state: 'failed', retryable: true },
  },
  { record: { spawn_state: 'failed', status: 'failed' }, says: { state: 'failed', code: 'spawn_failed' } },
  { record: { ...ENDED, status: 'cancelled' }, says: { state: 'cancelled' } },
  {
    record: {
      ...ENDED,
      status: 'exited',
      outcome: 'indeterminate',
      reason_code: 'process_gone_without_outcome',
    },
    says: {
      state: 'unknown',
      qualifier: 'indeterminate',
      retryable: false,
      code: 'process_gone_without_outcome',
    },
  },
];

describe('the shared lifecycle words', () => {
  it.each(ROWS)('$record.status as $says', ({ record, alive, degraded, says }) => {
    const json = toJson(record) as JsonObject;
    const nothing = { qualifier: null, reason: null, code: null, retryable: null, correlation_id: null };
    expect(lifecycleOf(json, derive(json, alive ?? false), degraded ?? null)).toEqual({
      ...nothing,
      ...says,
    });
  });

  it('never call an indeterminate run failed, whatever its status says (ADR-0107 D3)', () => {
    for (const status of ['failed', 'completed', 'exited', 'cancelled', 'anything']) {
      const json = toJson({ ...ENDED, status, outcome: 'indeterminate' }) as JsonObject;
      expect(lifecycleOf(json, derive(json, false), null)).toMatchObject({
        state: 'unknown',
        retryable: false,
      });
    }
  });
});
