import { LionError } from '../../shared/contract/errors.ts';
import type { Engine } from '../../shared/engine.ts';
import { sleep } from '../../shared/time/sleep.ts';
import type { Screen } from '../render/screen.ts';
import type { Answer, Call, Chunk } from '../verb.ts';
import { EX_READER_GONE } from './follow.ts';
import type { Lookout, Sight } from './lookout.ts';
import { exitCodeOf, waitLine } from './wait.ts';

const LOOK_EVERY_MS = 1_000;
/** Looking takes a fifth of the time at most, however many runs there are. */
const PAUSE_SHARE = 4;
/** A window that was resized is drawn anew after this long. */
const TICK_MS = 100;
const ENDED_SHOWN_MS = 60_000;

const ESC = '\u001b[';
/** The other screen, without a cursor; nothing wraps, so that no width that was misjudged moves the rest. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;

/** `lion job watch [RUN...]`: the runs as they are now, again and again; for people. */
export async function watch(call: Call, ids: readonly string[]): Promise<Answer> {
  if (call.machine) {
    throw new LionError(
      'invalid_input',
      'job watch is for people; for a program: lion job wait RUN... --machine, or lion job list --machine',
    );
  }
  const { Lookout } = await import('./lookout.ts');
  const engine = await call.open();
  const names = ids.length === 0 ? null : ids;
  const lookout = new Lookout(engine, names, ENDED_SHOWN_MS);
  call.progress('looking at the runs');
  const first = await lookout.begin();
  // A mistyped id is said at once, and by itself.
  const wrong = first.entries.filter(({ error }) => error !== null);
  if (names !== null && wrong.length > 0) {
    return { data: {}, human: () => linesOf(call, wrong), exitCode: 2 };
  }
  const watched = { engine, lookout, first, isBounded: names !== null };
  return {
    data: {},
    human: () => '',
    follow: (screen) => (isSeenLive(call, screen()) ? live(watched, screen) : lines(watched)),
  };
}

async function linesOf(call: Call, entries: Sight['entries']): Promise<string> {
  return (await Promise.all(entries.map((entry) => waitLine(call, entry)))).join('');
}

interface Watched {
  readonly engine: Engine;
  readonly lookout: Lookout;
  readonly first: Sight;
  /** Runs were named: it ends with them. */
  readonly isBounded: boolean;
}

function isSeenLive(call: Call, screen: Screen): boolean {
  return screen.columns !== null && call.env.TERM !== 'dumb';
}

/** On a terminal: one view, drawn in place. */
async function* live(watched: Watched, screen: () => Screen): AsyncGenerator<Chunk, number, boolean> {
  const { engine, lookout, isBounded } = watched;
  const { runLines, watchLines } = await import('../render/watch.ts');
  const view = ({ runs, fault }: Sight, of: Screen): string[] =>
    watchLines(of, isBounded ? runs : openFirst(runs), fault);
  yield { to: 'stdout', text: ENTER, holds: { enter: ENTER, leave: LEAVE } };
  let sight = watched.first;
  let isLeft = false;
  try {
    let [wasOver, drawn] = [false, ''];
    for (;;) {
      const isOver = isBounded && isSettled(sight);
      // One more look before it is believed that nothing will come any more.
      if (engine.signal.aborted || (isOver && (wasOver || !hasStopped(sight)))) break;
      wasOver = isOver;
      const looking = looked(engine, lookout, (found) => {
        sight = found;
      });
      for (let isDone = false; !isDone && !engine.signal.aborted; ) {
        const of = screen();
        // Laid out only where a second, the size or what is known is another.
        const moment = `${of.columns} ${of.rows} ${Math.floor(of.nowMs / 1000)}`;
        if (moment !== drawn) yield { to: 'stdout', text: frameOf(view(sight, of), of) };
        drawn = moment;
        isDone = (await Promise.race([looking.then(() => true), sleep(TICK_MS, engine.signal)])) === true;
      }
      await looking;
      drawn = '';
    }
    isLeft = true;
    // What was seen last stays to be read.
    const last = { ...screen(), rows: null };
    const { runs } = sight;
    const left = runs.length === 0 ? [] : runLines(last, isBounded ? runs : openFirst(runs));
    yield { to: 'stdout', text: LEAVE, holds: null };
    yield { to: 'stdout', text: left.map((line) => `${line}\r\n`).join('') };
  } finally {
    if (!isLeft) yield { to: 'stdout', text: LEAVE, holds: null };
  }
  return isBounded ? exitCodeOf({ entries: sight.entries, timedOut: false }, false) : 0;
}

/** Into a pipe: a line for each change. */
async function* lines(watched: Watched): AsyncGenerator<Chunk, number, boolean> {
  const { engine, lookout, isBounded } = watched;
  const { changeLines } = await import('../render/changes.ts');
  const { formatIso } = await import('../../shared/time/iso.ts');
  let [before, sight, wasOver]: [Sight | null, Sight, boolean] = [null, watched.first, false];
  for (;;) {
    const time = formatIso(engine.now());
    const { entries } = sight;
    const isGone = (runId: string): boolean => !entries.some(({ status }) => status?.runId === runId);
    const text = changeLines(before?.runs ?? [], sight.runs, time, isGone).join('');
    if (text !== '' && !(yield { to: 'stdout', text })) return EX_READER_GONE;
    if (sight.fault !== null && sight.fault !== before?.fault) {
      yield { to: 'stderr', text: `lion: not up to date: ${sight.fault}\n` };
    }
    const isOver = isBounded && isSettled(sight);
    if (engine.signal.aborted || (isOver && (wasOver || !hasStopped(sight)))) break;
    [before, wasOver] = [sight, isOver];
    await looked(engine, lookout, (found) => {
      sight = found;
    });
  }
  return isBounded ? exitCodeOf({ entries: sight.entries, timedOut: false }, false) : 0;
}

/** A pause, and then another look. */
async function looked(engine: Engine, lookout: Lookout, take: (sight: Sight) => void): Promise<void> {
  await sleep(LOOK_EVERY_MS, engine.signal);
  if (engine.signal.aborted) return;
  const beganMs = performance.now();
  take(await lookout.again());
  const more = (performance.now() - beganMs) * PAUSE_SHARE - LOOK_EVERY_MS;
  if (more > 0) await sleep(more, engine.signal);
}

function isSettled({ entries }: Sight): boolean {
  return entries.every(({ bucket }) => bucket !== 'pending');
}

function hasStopped({ entries }: Sight): boolean {
  return entries.some(({ bucket }) => bucket !== 'terminal');
}

function openFirst(runs: Sight['runs']): Sight['runs'] {
  return [
    ...runs.filter(({ row }) => row.terminal !== true),
    ...runs.filter(({ row }) => row.terminal === true),
  ];
}

/** Each line at its place: nothing scrolls, and what was there before is gone. */
function frameOf(lines: readonly string[], { rows }: Screen): string {
  const drawn = lines.map((line, at) => `${ESC}${at + 1};1H${ESC}2K${line}`).join('');
  return lines.length < (rows ?? 0) ? `${drawn}${ESC}${lines.length + 1};1H${ESC}J` : drawn;
}
