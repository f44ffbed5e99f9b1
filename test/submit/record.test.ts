import { describe, expect, it } from 'vitest';
import { RECORD_STYLE, writeJson } from '../../shared/json/write.ts';
import { startedFields } from '../../shared/submit/record.ts';

const ORIGIN = { hostId: 'host', bootId: 'boot', pidNamespace: 4_026_531_836 };

describe('ADR-0106 D5: what the spawn adds to a record', () => {
  const times: readonly (readonly [string, number | null, string])[] = [
    ['a time between seconds', 1_796_094_249.25, '1796094249.25'],
    // One process in a hundred starts there; a Python writer writes a float.
    ['a whole second', 1_796_094_249, '1796094249.0'],
    ['none that could be read', null, 'null'],
  ];
  it.each(times)('the start of the process as the Python writers write it: %s', (_what, createTime, text) => {
    const fields = startedFields({ pid: 41_234, createTime, startTicks: 12_300, origin: ORIGIN });
    expect(writeJson(fields.get('pid_create_time') ?? null, RECORD_STYLE)).toBe(text);
    const whole = ['pid', 'pgid', 'pid_start_ticks'].map((key) =>
      writeJson(fields.get(key) ?? null, RECORD_STYLE),
    );
    expect(whole).toEqual(['41234', '41234', '12300']);
  });

  it('neither an end nor a notice (ADR-0107 D5)', () => {
    const fields = startedFields({ pid: 2, createTime: 1.5, startTicks: 3, origin: ORIGIN });
    const names = ['pid', 'pid_create_time', 'pgid', 'spawn_state', 'pid_start_ticks', 'origin'];
    expect([...fields.keys()].sort()).toEqual(names.sort());
    expect(fields.get('spawn_state')).toBe('started');
  });
});
