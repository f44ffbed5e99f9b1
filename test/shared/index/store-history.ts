import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Engine } from '../../../shared/engine.ts';
import { indexFileOf } from '../../../shared/index/schema.ts';
import { type JsonObject as EngineObject, toJson } from '../../../shared/json/value.ts';
import { rewriteDelivery } from '../../../shared/notify/rewrite.ts';
import { readRecord } from '../../../shared/record/read.ts';
import { markTerminal } from '../../../shared/run/mark-terminal.ts';
import type { Json } from '../../support/json-tree.ts';
import { layRun, runAt } from '../../support/lay-run.ts';
import { jsonObject, replaceRecord } from '../../support/runs-of-all-sorts.ts';
import type { World } from '../../support/world.ts';
import { IndexingByHand } from './indexing-by-hand.ts';

export type Step =
  | { readonly do: 'submit'; readonly look: number }
  | { readonly do: 'end'; readonly run: number; readonly look: number }
  | { readonly do: 'edit_open'; readonly run: number; readonly look: number }
  | { readonly do: 'late_hook'; readonly run: number }
  | { readonly do: 'send_by_hand'; readonly run: number }
  | { readonly do: 'edit_ended_then_look'; readonly run: number; readonly look: number }
  | { readonly do: 'prune'; readonly run: number }
  | { readonly do: 'rename'; readonly run: number; readonly look: number }
  | { readonly do: 'reserve' }
  | { readonly do: 'damage_open'; readonly run: number }
  | { readonly do: 'degrade'; readonly run: number; readonly isMended: boolean }
  | { readonly do: 'wait' }
  | { readonly do: 'index'; readonly stats: boolean; readonly looks: number | null }
  | { readonly do: 'stop' }
  | { readonly do: 'damage_index'; readonly how: Damage };

export type Damage =
  | { readonly kind: 'delete'; readonly which: '' | '-wal' | '-shm' }
  | { readonly kind: 'truncate'; readonly part: number }
  | { readonly kind: 'flip'; readonly which: '' | '-wal'; readonly part: number; readonly bit: number }
  | { readonly kind: 'version' }
  | { readonly kind: 'garbage' };

const number = fc.nat(1000);
const part = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant('delete' as const), which: fc.constantFrom('' as const, '-wal', '-shm') }),
  fc.record({ kind: fc.constant('truncate' as const), part }),
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('flip' as const),
      which: fc.constantFrom('' as const, '' as const, '-wal'),
      part,
      bit: fc.nat(7),
    }),
  },
  fc.record({ kind: fc.constantFrom('version' as const, 'garbage' as const) }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  weighted(4, fc.record({ do: fc.constant('submit' as const), look: number })),
  weighted(4, fc.record({ do: fc.constant('end' as const), run: number, look: number })),
  weighted(1, fc.record({ do: fc.constant('edit_open' as const), run: number, look: number })),
  weighted(2, fc.record({ do: fc.constantFrom('late_hook' as const, 'send_by_hand' as const), run: number })),
  weighted(1, fc.record({ do: fc.constant('edit_ended_then_look' as const), run: number, look: number })),
  weighted(1, fc.record({ do: fc.constantFrom('prune' as const, 'damage_open' as const), run: number })),
  weighted(1, fc.record({ do: fc.constant('rename' as const), run: number, look: number })),
  weighted(1, fc.record({ do: fc.constant('reserve' as const) })),
  weighted(1, fc.record({ do: fc.constant('degrade' as const), run: number, isMended: fc.boolean() })),
  weighted(2, fc.record({ do: fc.constant('wait' as const) })),
  weighted(
    7,
    fc.record({
      do: fc.constant('index' as const),
      stats: fc.boolean(),
      looks: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(5) }),
    }),
  ),
  weighted(1, fc.record({ do: fc.constant('stop' as const) })),
  weighted(3, fc.record({ do: fc.constant('damage_index' as const), how: damage })),
);

function weighted(weight: number, arbitrary: fc.Arbitrary<Step>): fc.WeightedArbitrary<Step> {
  return { weight, arbitrary };
}

export function historyOf(length: number): fc.Arbitrary<Step[]> {
  return fc.array(step, { minLength: length, maxLength: length, size: 'max' });
}

const pick = <T>(from: readonly T[], at: number): T => from[at % from.length] as T;

/** What a run may look like in the list, from one number. */
function lookOf(look: number): Record<string, Json> {
  return {
    kind: pick(['agent', 'flow', jsonObject({ deep: 'x' })], look),
    label: pick(['nightly build', 'caf\u00e9 \u{1F600}', null, 'half \ud83d', 'a\u0000b'], look >> 1),
    tags: pick([['a', 'b'], ['b'], 'no list'], look >> 2),
    trace_id: pick([null, 'trace'], look >> 3),
    submitted_at: `2026-0${1 + (look % 9)}-01T00:00:00.000000+00:00`,
  };
}

/** Status, outcome and writer. */
const ENDS: readonly (readonly [string, string | null, string])[] = [
  ['completed', null, 'cli_terminal_hook'],
  ['failed', null, 'cli_terminal_hook'],
  ['degraded', null, 'cli_terminal_hook'],
  ['cancelled', null, 'cli_terminal_hook'],
  ['exited', 'indeterminate', 'mcp_orphan_reaper'],
];

function endOf(look: number): Record<string, Json> {
  const [status, outcome, source] = pick(ENDS, look);
  return {
    ...lookOf(look),
    status,
    outcome,
    reason: 'as told',
    reason_code: pick([null, 'timeout', 'process_gone_without_outcome'], look >> 2),
    finished_at: '2026-09-01T00:00:00.000000+00:00',
    terminal_source: source,
    notify_delivery: pick<Json>(
      [
        null,
        jsonObject({ attempted: false }),
        jsonObject({ attempted: true, ok: true }),
        jsonObject({ skipped: 'x' }),
      ],
      look >> 3,
    ),
  };
}

/** A store that things happen to, and an index of it that is kept by hand. */
export class StoreHistory {
  #clockMs = Date.now();
  #indexing: IndexingByHand | null = null;
  #submitted = 0;
  readonly engine: Engine;

  constructor(
    readonly world: World,
    engine: Engine,
  ) {
    this.engine = { ...engine, now: () => this.#clockMs };
    mkdirSync(world.jobs, { recursive: true });
  }

  async apply(step: Step): Promise<void> {
    // Real time goes on beneath: the clock of the store never lags behind the one of its files.
    this.#clockMs = Math.max(this.#clockMs, Date.now()) + 10_000;
    switch (step.do) {
      case 'submit':
        layRun(this.world, this.#newId(), {
          spawn_state: pick(['preparing', 'started'], step.look),
          ...lookOf(step.look),
        });
        return;
      case 'end':
        return this.#onOpen(step.run, (runId) => this.#replace(runId, endOf(step.look)));
      case 'edit_open':
        return this.#onOpen(step.run, (runId) => this.#replace(runId, lookOf(step.look)));
      case 'late_hook':
        return this.#lateHook(step.run);
      case 'send_by_hand':
        return this.#sendByHand(step.run);
      case 'edit_ended_then_look':
        this.#onEnded(step.run, (runId) => this.#replace(runId, endOf(step.look)));
        return this.#index(true, null);
      case 'prune':
        return this.#on(this.#names(), step.run, (runId) =>
          rmSync(join(this.world.jobs, runId), { recursive: true }),
        );
      case 'rename':
        return this.#on(this.#names(), step.run, (runId) =>
          renameSync(join(this.world.jobs, runId), join(this.world.jobs, this.#newId())),
        );
      case 'reserve':
        mkdirSync(join(this.world.jobs, this.#newId()));
        return;
      case 'damage_open':
        return this.#onOpen(step.run, (runId) =>
          writeFileSync(join(this.world.jobs, runId, 'job.json'), '{"half'),
        );
      case 'degrade':
        return this.#on(this.#names(), step.run, (runId) => this.#degrade(runId, step.isMended));
      case 'wait':
        this.#clockMs += 20 * 60_000;
        return;
      case 'index':
        return this.#index(step.stats, step.looks);
      case 'stop':
        return this.close();
      case 'damage_index':
        return damageIndex(indexFileOf(this.engine.home.stateDir), step.how);
    }
  }

  async close(): Promise<void> {
    await this.#indexing?.close();
    this.#indexing = null;
  }

  async #index(stats: boolean, looks: number | null): Promise<void> {
    this.#indexing ??= new IndexingByHand(this.engine);
    await this.#indexing.round({ stats, looks });
  }

  async #lateHook(run: number): Promise<void> {
    const runId = this.#named(this.#ended(), run);
    if (runId === null) return;
    const report = { status: 'completed', reasonCode: null, exitCode: 0, exitSignal: null, cause: null };
    await markTerminal(this.engine, runId, { ...report, owed: { owed: false } });
  }

  async #sendByHand(run: number): Promise<void> {
    const runId = this.#named(this.#ended(), run);
    if (runId === null) return;
    const read = readRecord(join(this.world.jobs, runId));
    if (read.state !== 'ok') return;
    const sent = toJson({ attempted: true, ok: run % 2 === 0, error: null }) as EngineObject;
    await rewriteDelivery(this.engine, runId, read.object.value.get('notify_delivery'), sent);
  }

  #degrade(runId: string, isMended: boolean): void {
    const directory = join(this.engine.home.runsDir, runId);
    mkdirSync(directory, { recursive: true });
    const reason = isMended ? null : 'disk_full';
    writeFileSync(join(directory, 'run.json'), JSON.stringify({ persistence_degraded_reason: reason }));
  }

  #replace(runId: string, members: Record<string, Json>): void {
    replaceRecord(runAt(join(this.world.jobs, runId), runId), members);
  }

  /** In no order: late submissions of old ids are part of life. */
  #newId(): string {
    const at = ((this.#submitted++ * 7919) % 3600) + 3600;
    return `2026080${1 + (at % 3)}T0${Math.floor(at / 3600)}0000-${(0xa00000 + this.#submitted).toString(16)}`;
  }

  #names(): string[] {
    return readdirSync(this.world.jobs).sort();
  }

  #ended(): string[] {
    return this.#names().filter((runId) => isEnded(this.world.jobs, runId) === true);
  }

  #onOpen(at: number, work: (runId: string) => void): void {
    this.#on(
      this.#names().filter((runId) => isEnded(this.world.jobs, runId) === false),
      at,
      work,
    );
  }

  #onEnded(at: number, work: (runId: string) => void): void {
    this.#on(this.#ended(), at, work);
  }

  #on(names: readonly string[], at: number, work: (runId: string) => void): void {
    const runId = this.#named(names, at);
    if (runId !== null) work(runId);
  }

  #named(names: readonly string[], at: number): string | null {
    return names.length === 0 ? null : pick(names, at);
  }
}

/** Null: there is no record that could say so. */
function isEnded(jobs: string, runId: string): boolean | null {
  const read = readRecord(join(jobs, runId));
  return read.state === 'ok' ? (read.object.value.get('finished_at') ?? null) !== null : null;
}

function damageIndex(file: string, how: Damage): void {
  const path = how.kind === 'delete' || how.kind === 'flip' ? `${file}${how.which}` : file;
  const bytes = readOrNull(path);
  if (bytes === null || bytes.length === 0) return;
  if (how.kind === 'delete') rmSync(path);
  else writeFileSync(path, damaged(bytes, how));
}

function damaged(bytes: Buffer, how: Exclude<Damage, { kind: 'delete' }>): Buffer {
  switch (how.kind) {
    case 'garbage':
      return Buffer.from('this is no index');
    case 'truncate':
      return bytes.subarray(0, Math.floor(bytes.length * how.part));
    case 'version':
      // What is there may be no index, and shorter than its header.
      if (bytes.length < VERSION_AT + 4) return bytes;
      bytes.writeUInt32BE(77, VERSION_AT);
      return bytes;
    case 'flip': {
      const at = Math.floor(bytes.length * how.part);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << how.bit);
      return bytes;
    }
  }
}

/** `PRAGMA user_version` in the file's header. */
const VERSION_AT = 60;

function readOrNull(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
