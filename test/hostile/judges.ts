/** From where a run can be judged, alone and two at a time. */
import * as place from '../support/namespaces.ts';

/** What the layers of a place need when it is really made. */
export interface Makings {
  /** Where files can be put. */
  directory: string;
  cwd: string;
  /** The runs' own user, and one that is not. */
  owner: number;
  other: number;
  /** A process with mounts of its own, `/proc` of an inner pid namespace among them. */
  innerMounts: number;
  /** So few tasks for this user that a call works and cannot start another process. */
  taskLimit: (uid: number) => number;
}

/** In the order in which the layers of a place stand, the outermost first. */
const SLOTS = ['mounts', 'namespace', 'time', 'proc', 'clock', 'bootId', 'user', 'ids', 'limit'] as const;
type Slot = (typeof SLOTS)[number];
type Make = (makings: Makings, uid: number) => place.Layer;

export interface Judge {
  name: string;
  parts: Partial<Record<Slot, Make>>;
  user?: 'owner' | 'other';
  /** It says nothing to root: whom it is judged as where no other condition names a user. */
  elseUser?: 'owner';
  /** What of `/proc` is not there, or must be there for the place to be made. */
  lacks?: readonly ('files' | 'self')[];
  needs?: 'files' | 'self';
  /** `pid_identity` of a live run as a Python writer recorded it. */
  seesPlain: string;
  /** The same of one whose ticks are recorded, where we know. */
  seesTicked?: string;
  /** Whether a run that is really gone is ended from here; null: either will do. */
  endsGone: boolean | null;
  /** One call at a time, since others would count against it; and one that cannot even start is no answer. */
  cramped?: true;
}

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

const stepped = (by: string, seconds: number): Judge => ({
  name: `after the clock was stepped by ${by}`,
  parts: { clock: ({ directory }) => place.withSteppedClock(directory, seconds) },
  needs: 'files',
  seesPlain: 'mark_contradicts',
  seesTicked: 'confirmed',
  endsGone: true,
});

/** Only a mark tells there that the machine was not started anew: not a place to judge every run from. */
export const UNDER_ANOTHER_BOOT_ID = underBootId(
  'under another boot id',
  '00000000-0000-4000-8000-000000000000',
);

const withoutProc = (name: string, layer: place.Layer): Judge => ({
  name,
  parts: { proc: () => layer },
  lacks: ['files', 'self'],
  seesPlain: 'unreadable',
  endsGone: false,
});

const hiding = (option: string): Judge => ({
  name: `as another user with ${option}`,
  parts: { proc: () => place.withProc(option) },
  user: 'other',
  seesPlain: 'unreadable',
  endsGone: null,
});

export const AS_ROOT: Judge = { name: 'as root', parts: {}, seesPlain: 'confirmed', endsGone: true };
export const AS_OWNER: Judge = { ...AS_ROOT, name: "as the run's own user", user: 'owner' };

export const JUDGES: readonly Judge[] = [
  AS_ROOT,
  AS_OWNER,
  { ...AS_ROOT, name: 'as another user', user: 'other' },
  stepped('+1 s', 1),
  stepped('-1 s', -1),
  stepped('+1 day', DAY_S),
  stepped('-1 day', -DAY_S),
  {
    name: 'in a pid namespace with its own /proc',
    parts: { namespace: () => place.inPidNamespace('with its own /proc') },
    seesPlain: 'unjudgeable',
    seesTicked: 'other_host',
    endsGone: false,
  },
  {
    name: 'in a pid namespace with the outer /proc',
    parts: { namespace: () => place.inPidNamespace('with the outer /proc'), proc: () => [] },
    seesPlain: 'unjudgeable',
    endsGone: false,
  },
  {
    name: 'through the /proc of another pid namespace',
    parts: { mounts: ({ innerMounts, cwd }) => place.inMountsOf(innerMounts, cwd), proc: () => [] },
    lacks: ['self'],
    seesPlain: 'unreadable',
    endsGone: false,
  },
  hiding('hidepid=1'),
  hiding('hidepid=2'),
  withoutProc('with /proc unmounted', place.withoutProc()),
  withoutProc('with an empty tmpfs for /proc', place.withEmptyProc()),
  {
    name: 'with nothing but pids in /proc',
    parts: { proc: () => place.withProc('subset=pid') },
    lacks: ['files'],
    seesPlain: 'unreadable',
    endsGone: null,
  },
  {
    name: 'with a /proc that cannot be listed',
    parts: { proc: place.withUnlistableProc },
    elseUser: 'owner',
    seesPlain: 'confirmed',
    endsGone: null,
  },
  underBootId('without a boot id', ''),
  {
    name: 'with the task table full',
    parts: { limit: ({ taskLimit }, uid) => place.withTaskLimit(taskLimit(uid)) },
    elseUser: 'owner',
    seesPlain: 'confirmed',
    seesTicked: 'confirmed',
    endsGone: null,
    cramped: true,
  },
  {
    name: 'in a time namespace',
    parts: { time: () => place.inTimeNamespace(HOUR_S) },
    needs: 'self',
    seesPlain: 'confirmed',
    endsGone: true,
  },
  {
    name: 'in a user namespace',
    parts: { ids: () => place.inUserNamespace() },
    elseUser: 'owner',
    needs: 'self',
    seesPlain: 'confirmed',
    endsGone: null,
  },
];

/** All pairs that can be had at once, but for those that say the same with another number. */
export const JUDGE_PAIRS: readonly Judge[] = pairsOf(
  JUDGES.filter(({ name }) => !/as root|own user|-1 s$|\+1 day|hidepid=1|unmounted/.test(name)),
);

function pairsOf(judges: readonly Judge[]): Judge[] {
  return judges.flatMap((one, at) => judges.slice(at + 1).flatMap((two) => bothOf(one, two)));
}

function bothOf(one: Judge, two: Judge): Judge[] {
  const sameSlot = SLOTS.some((slot) => one.parts[slot] !== undefined && two.parts[slot] !== undefined);
  const sameUser = one.user !== undefined && two.user !== undefined;
  if (sameSlot || sameUser || spoils(one, two) || spoils(two, one)) return [];
  const endsGone = one.endsGone === false || two.endsGone === false ? false : null;
  return [
    { ...one, ...two, name: `${one.name}, ${two.name}`, parts: { ...one.parts, ...two.parts }, endsGone },
  ];
}

function spoils({ lacks = [] }: Judge, { needs }: Judge): boolean {
  return needs !== undefined && lacks.includes(needs);
}

/** The place for real. */
export function layersOf({ parts, user, elseUser }: Judge, makings: Makings): string[] {
  const named = user ?? elseUser;
  const uid = named === undefined ? 0 : makings[named];
  return SLOTS.flatMap((slot) => {
    if (slot === 'user') return named === undefined ? [] : place.asUser(uid);
    return parts[slot]?.(makings, uid) ?? [];
  });
}

function underBootId(name: string, bootId: string): Judge {
  return {
    name,
    parts: { bootId: ({ directory }) => place.withBootId(directory, bootId) },
    needs: 'files',
    seesPlain: 'confirmed',
    endsGone: true,
  };
}
