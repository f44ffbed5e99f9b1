import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProcessClaim } from '../../../shared/liveness/claim.ts';
import { type Finding, isConclusive, livenessOf } from '../../../shared/liveness/finding.ts';
import { type Ground, judgeSighting, withinBoundary, withMarks } from '../../../shared/liveness/judge.ts';
import type { MarkedProcess, MarkScan, Origin, Sighting } from '../../../shared/process/table.ts';

const HERE: Origin = { hostId: 'host', bootId: 'boot', pidNamespace: 7 };
const CREATED = 1_790_000_000.25;
const TICKS = 4_711;

/** Where a record may come from. Both earlier boots are one origin: the filesystem is the ground's. */
const ORIGINS: Readonly<Record<string, Origin | null>> = {
  none: null,
  'this host, this boot': HERE,
  'this boot, another namespace': { ...HERE, pidNamespace: 8 },
  'an earlier boot of this host': { ...HERE, bootId: 'earlier' },
  'another host': { hostId: 'other', bootId: 'other', pidNamespace: 7 },
  'no host id, another boot': { hostId: null, bootId: 'other', pidNamespace: 7 },
  'another host id, this boot': { ...HERE, hostId: 'other' },
  'no boot id': { ...HERE, bootId: null },
};

/** Which grounds let `process_gone` stand: initial or inner namespace, asked to judge or not, local or network. */
const GROUNDS = ['IAL', 'IAN', 'I-L', 'I-N', 'NAL', 'NAN', 'N-L', 'N-N'] as const;
const MAY_END: Readonly<Record<keyof typeof ORIGINS, readonly (0 | 1)[]>> = {
  //                                IAL IAN I-L I-N NAL NAN N-L N-N
  none: /*                       */ [1, 1, 1, 0, 1, 1, 0, 0],
  'this host, this boot': /*     */ [1, 1, 1, 1, 1, 1, 1, 1],
  'this boot, another namespace': [1, 1, 0, 0, 1, 1, 0, 0],
  'an earlier boot of this host': [1, 0, 1, 0, 1, 0, 1, 0],
  'another host': /*             */ [0, 0, 0, 0, 0, 0, 0, 0],
  'no host id, another boot': /* */ [0, 0, 0, 0, 0, 0, 0, 0],
  'another host id, this boot': /**/ [1, 1, 1, 1, 1, 1, 1, 1],
  'no boot id': /*               */ [0, 0, 0, 0, 0, 0, 0, 0],
};

function groundOf(code: string, procIsOurs = true): Ground {
  const standpoint = { origin: HERE, initialNamespace: code.startsWith('I'), procIsOurs };
  return { standpoint, localFilesystem: code.endsWith('L'), judgeUnowned: code[1] === 'A' };
}

function claimOf(origin: Origin | null, more: Partial<ProcessClaim> = {}): ProcessClaim {
  return { pid: 4_242, createTime: CREATED, startTicks: null, origin, ...more };
}

const GONE = ['pid_absent', 'disappeared_during_probe', 'pid_recycled'] as const;
const NOT_GONE: readonly Finding[] = [
  'no_record',
  'unusable_pid',
  'identity_confirmed',
  'identity_not_recorded',
  'identity_unusable',
  'identity_unreadable',
  'mark_contradicts',
  'in_other_namespace',
  'other_host',
  'unjudgeable',
  'candidate_unreadable',
];

describe('the findings', () => {
  it('conclude that a process is gone three times and never else', () => {
    const concluding = [...GONE, ...NOT_GONE].filter(
      (name) => livenessOf(name).conclusion === 'process_gone',
    );
    expect(concluding).toEqual([...GONE]);
    expect([...GONE, ...NOT_GONE].filter(isConclusive)).toEqual([...GONE]);
    expect(GONE.map((name) => livenessOf(name).alive)).toEqual([false, false, false]);
  });

  it.each(['', 'gone', 'constructor', 'toString', '__proto__', 'PID_ABSENT', 'pid_absent '])(
    'take no word for one of the three that is not: %j',
    (word) => expect(isConclusive(word)).toBe(false),
  );

  it.each<[Finding, string | null]>([
    ['unusable_pid', 'unusable_pid'],
    ['pid_absent', null],
    ['disappeared_during_probe', 'gone'],
    ['pid_recycled', 'recycled'],
    ['identity_confirmed', 'confirmed'],
    ['identity_not_recorded', 'not_recorded'],
    ['identity_unusable', 'unusable'],
    ['identity_unreadable', 'unreadable'],
    ['no_record', null],
    ['mark_contradicts', 'mark_contradicts'],
    ['in_other_namespace', 'in_other_namespace'],
    ['other_host', 'other_host'],
    ['unjudgeable', 'unjudgeable'],
  ])('are public under the word of design 5: %s as %s', (finding, word) => {
    expect(livenessOf(finding).pidIdentity).toBe(word);
  });
});

const live = (createTime: number, startTicks: number | null = TICKS): Sighting => ({
  kind: 'live',
  createTime,
  startTicks,
});

describe('what the pid alone tells', () => {
  const ground = groundOf('I-L');

  it.each<[string, Partial<ProcessClaim>, Sighting | null, Finding]>([
    ['a pid that cannot be asked about', { pid: null }, null, 'unusable_pid'],
    ['a pid that cannot be asked about, whatever is seen', { pid: null }, live(CREATED), 'unusable_pid'],
    ['a pid that was not looked at', {}, null, 'unusable_pid'],
    ['nobody holds it', {}, { kind: 'absent' }, 'pid_absent'],
    ['nobody holds it, no start time', { createTime: 'not_recorded' }, { kind: 'absent' }, 'pid_absent'],
    ['it vanished', {}, { kind: 'vanished' }, 'disappeared_during_probe'],
    ['it cannot be read', {}, { kind: 'unreadable' }, 'identity_unreadable'],
    ['started then', {}, live(CREATED), 'identity_confirmed'],
    ['started 0.09 s later', {}, live(CREATED + 0.09), 'identity_confirmed'],
    ['started 0.09 s earlier', {}, live(CREATED - 0.09), 'identity_confirmed'],
    ['started 0.11 s later', {}, live(CREATED + 0.11), 'pid_recycled'],
    ['started 0.11 s earlier', {}, live(CREATED - 0.11), 'pid_recycled'],
    ['no start time recorded', { createTime: 'not_recorded' }, live(CREATED), 'identity_not_recorded'],
    [
      'none recorded, none to be read',
      { createTime: 'not_recorded' },
      { kind: 'unreadable' },
      'identity_not_recorded',
    ],
    ['no number recorded', { createTime: 'unusable' }, live(CREATED), 'identity_unusable'],
    [
      'no number recorded, none to be read',
      { createTime: 'unusable' },
      { kind: 'unreadable' },
      'identity_unusable',
    ],
  ])('%s', (_, more, sighting, finding) => {
    expect(judgeSighting(claimOf(null, more), sighting, ground)).toBe(finding);
  });

  it('takes nothing that lives for a process of an earlier boot of this host', () => {
    const earlier = claimOf(ORIGINS['an earlier boot of this host'] ?? null);
    expect(judgeSighting(earlier, live(CREATED), groundOf('I-L'))).toBe('pid_recycled');
    expect(judgeSighting(earlier, live(CREATED), groundOf('I-N'))).toBe('identity_confirmed');
  });
});

describe('start ticks', () => {
  const ticked = (
    startTicks: number | null,
    origin: Origin | null = HERE,
    createTime = CREATED,
  ): ProcessClaim => claimOf(origin, { startTicks, createTime });

  it('decide before the start time in the boot and namespace they were read in, whatever the clock did', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e9, max: 1e9, noNaN: true }), (step) => {
        const seen = live(CREATED + step);
        expect(judgeSighting(ticked(TICKS), seen, groundOf('I-L'))).toBe('identity_confirmed');
        const off = Math.abs(step) > 0.2;
        if (off) expect(judgeSighting(ticked(TICKS + 1), seen, groundOf('I-L'))).toBe('pid_recycled');
      }),
    );
  });

  it.each<[string, Origin | null]>([
    ['without an origin', null],
    ['in another pid namespace', { ...HERE, pidNamespace: 8 }],
    ['without a boot id', { ...HERE, bootId: null }],
    ['on another host', { hostId: 'other', bootId: 'other', pidNamespace: 7 }],
  ])('say nothing %s', (_, origin) => {
    const ground = groundOf('I-L');
    expect(judgeSighting(ticked(TICKS + 1, origin), live(CREATED), ground)).toBe('identity_confirmed');
    expect(judgeSighting(ticked(TICKS, origin), live(CREATED + 9), ground)).toBe('pid_recycled');
  });

  it('say nothing where the boot we are in is not known', () => {
    const nowhere = { origin: { ...HERE, bootId: null }, initialNamespace: true, procIsOurs: true };
    const ground = { ...groundOf('I-L'), standpoint: nowhere };
    const claim = ticked(TICKS, { ...HERE, bootId: null });
    expect(judgeSighting(claim, live(CREATED + 9), ground)).toBe('pid_recycled');
    expect(withinBoundary('pid_recycled', claim, ground)).toBe('other_host');
  });

  it('say nothing where the live process does not tell its own', () => {
    expect(judgeSighting(ticked(TICKS + 1), live(CREATED, null), groundOf('I-L'))).toBe('identity_confirmed');
  });
});

describe('the host boundary', () => {
  const rows = Object.entries(MAY_END).flatMap(([origin, row]) =>
    GROUNDS.map((ground, at) => [origin, ground, row[at] === 1] as const),
  );

  it.each(rows)('from %s on ground %s: may end is %s', (name, code, mayEnd) => {
    const origin = ORIGINS[name] ?? null;
    for (const finding of GONE) {
      const within = withinBoundary(finding, claimOf(origin), groundOf(code));
      expect(within).toBe(mayEnd ? finding : origin === null ? 'unjudgeable' : 'other_host');
      expect(isConclusive(within)).toBe(mayEnd);
    }
  });

  it('lets nothing be ended where /proc is not our own, whatever else holds', () => {
    for (const origin of Object.values(ORIGINS))
      for (const code of GROUNDS)
        for (const finding of GONE)
          expect(withinBoundary(finding, claimOf(origin), groundOf(code, false))).toBe('unjudgeable');
  });
});

const role = (of: MarkedProcess['role'], pid = 1): MarkedProcess => ({ pid, role: of });

describe('the contradiction guard', () => {
  it.each<[string, MarkScan, Finding | 'as it was']>([
    ['nothing marked', { marked: [], unreadableCandidate: false }, 'as it was'],
    ['a marked survivor', { marked: [role('other')], unreadableCandidate: false }, 'as it was'],
    ['the holder marked', { marked: [role('holder')], unreadableCandidate: false }, 'mark_contradicts'],
    ['a nested one marked', { marked: [role('nested')], unreadableCandidate: false }, 'in_other_namespace'],
    ['a candidate unreadable', { marked: [], unreadableCandidate: true }, 'candidate_unreadable'],
    [
      'survivor and candidate',
      { marked: [role('other')], unreadableCandidate: true },
      'candidate_unreadable',
    ],
    ['holder and candidate', { marked: [role('holder')], unreadableCandidate: true }, 'mark_contradicts'],
    [
      'many, a nested one among them',
      { marked: [role('other'), role('nested')], unreadableCandidate: true },
      'in_other_namespace',
    ],
  ])('with %s', (_, scan, expected) => {
    for (const finding of GONE) {
      expect(withMarks(finding, scan)).toBe(expected === 'as it was' ? finding : expected);
    }
    for (const finding of NOT_GONE) expect(withMarks(finding, scan)).toBe(finding);
  });
});

const anyOrigin = fc.constantFrom(...Object.values(ORIGINS));
const anyClaim: fc.Arbitrary<ProcessClaim> = fc.record({
  pid: fc.constantFrom(null, 4_242),
  createTime: fc.constantFrom<ProcessClaim['createTime'][]>(
    CREATED,
    CREATED + 0.05,
    CREATED + 3_600,
    'not_recorded',
    'unusable',
  ),
  startTicks: fc.constantFrom(null, TICKS, TICKS + 1),
  origin: anyOrigin,
});
const anySighting: fc.Arbitrary<Sighting | null> = fc.constantFrom<(Sighting | null)[]>(
  null,
  { kind: 'absent' },
  { kind: 'vanished' },
  { kind: 'unreadable' },
  live(CREATED),
  live(CREATED, null),
  live(CREATED + 0.05, TICKS + 1),
  live(CREATED - 86_400),
);
const anyGround = fc
  .tuple(fc.constantFrom(...GROUNDS), fc.boolean())
  .map(([code, procIsOurs]) => groundOf(code, procIsOurs));
const anyScan: fc.Arbitrary<MarkScan> = fc.record({
  marked: fc.array(fc.constantFrom(role('holder', 4_242), role('nested'), role('other')), { maxLength: 3 }),
  unreadableCandidate: fc.boolean(),
});
const RUNS = { numRuns: 5_000 };

describe('every judgement', () => {
  it('ends a run by the three findings alone, each on its own evidence', () => {
    fc.assert(
      fc.property(anyClaim, anySighting, anyGround, anyScan, (claim, sighting, ground, scan) => {
        const seen = judgeSighting(claim, sighting, ground);
        const finding = withMarks(withinBoundary(seen, claim, ground), scan);
        if (livenessOf(finding).conclusion !== 'process_gone') return;
        const evidence: Partial<Record<Finding, boolean>> = {
          pid_absent: sighting?.kind === 'absent',
          disappeared_during_probe: sighting?.kind === 'vanished',
          pid_recycled: sighting?.kind === 'live' || sighting?.kind === 'unreadable',
        };
        expect(evidence[finding]).toBe(true);
        expect(claim.pid).not.toBeNull();
        expect(ground.standpoint.procIsOurs).toBe(true);
      }),
      RUNS,
    );
  });

  it('is only ever made less certain by the boundary and by the guard', () => {
    const anyFinding = fc.constantFrom<Finding[]>(...GONE, ...NOT_GONE);
    fc.assert(
      fc.property(anyFinding, anyClaim, anyGround, anyScan, (finding, claim, ground, scan) => {
        for (const after of [withinBoundary(finding, claim, ground), withMarks(finding, scan)]) {
          if (!isConclusive(finding)) expect(after).toBe(finding);
          else if (after !== finding) expect(isConclusive(after)).toBe(false);
        }
      }),
      RUNS,
    );
  });

  it('never ends a run whose process is unreadable in the boot the record names', () => {
    fc.assert(
      fc.property(anyClaim, anyGround, (claim, ground) => {
        const finding = judgeSighting(claim, { kind: 'unreadable' }, ground);
        if (claim.origin?.bootId !== 'earlier') expect(isConclusive(finding)).toBe(false);
      }),
      RUNS,
    );
  });
});
