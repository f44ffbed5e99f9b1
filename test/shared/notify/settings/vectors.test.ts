import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveNotifySettings, type SettingsCommand } from '../../../../shared/notify/settings/settings.ts';
import { tempRoot } from './temp-root.ts';

interface Vector {
  readonly id: string;
  readonly title: string;
  readonly run_id: string;
  readonly record: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string | { readonly hex?: string; readonly dir?: true }>>;
  readonly expect: {
    readonly calls: readonly [{ readonly notify_delivery: Delivery }, ...unknown[]];
    readonly notifier: readonly { readonly argv: readonly string[] }[];
  };
}

interface Delivery {
  readonly attempted: boolean;
  readonly ok?: boolean;
  readonly error?: string | null;
  readonly command?: string | null;
}

const DATA = new URL('../../../vectors/data/settings.json', import.meta.url);
const VECTORS: readonly Vector[] = JSON.parse(readFileSync(DATA, 'utf8'));

/** Filters are applied here where the recorded engine only checks them: nothing is sent. */
const FILTERED = new Set(['settings-075', 'settings-122']);

describe('the recorded situations of settings.yaml', () => {
  it('are all here', () => expect(VECTORS).toHaveLength(95));

  it.each(VECTORS.filter(({ record }) => record.notify_command === null))('$id $title', (vector) => {
    const root = tempRoot();
    layOut(vector, root);
    const { command } = resolveNotifySettings({
      homeDir: join(root, 'home'),
      startDir: startDir(vector, root),
      runId: vector.run_id,
      runKind: 'session',
    });
    expect(asSent(command, vector)).toEqual(recorded(vector, root));
  });
});

/** What the answers say of the command: its words once the placeholders are filled, or its program alone. */
function recorded(vector: Vector, root: string): unknown {
  const delivery = vector.expect.calls[0].notify_delivery;
  const { attempted, error, command = null } = delivery;
  if (FILTERED.has(vector.id) || (!attempted && error === undefined)) return { kind: 'none' };
  if (!attempted && command === null) return { kind: 'unusable', reason: error };
  const sent = vector.expect.notifier[0]?.argv ?? [command ?? ''];
  return { kind: 'argv', argv: sent.map((word) => place(word, root)) };
}

function asSent(command: SettingsCommand, vector: Vector): unknown {
  if (command.kind !== 'argv') return command;
  const wasStarted = vector.expect.notifier[0] !== undefined;
  const argv = command.argv.map((word) =>
    word
      .replaceAll('{run_id}', vector.run_id)
      .replaceAll('{status}', 'exited')
      .replaceAll('{label}', String(vector.record.label)),
  );
  return { kind: 'argv', argv: wasStarted ? argv : argv.slice(0, 1) };
}

function layOut(vector: Vector, root: string): void {
  for (const [name, content] of Object.entries(vector.files ?? {})) {
    const path = place(name, root);
    mkdirSync(dirname(path), { recursive: true });
    if (typeof content === 'string') writeFileSync(path, place(content, root));
    else if (content.hex !== undefined) writeFileSync(path, Buffer.from(content.hex, 'hex'));
    else mkdirSync(path);
  }
}

/** The recorded order: the run's `cwd`, else its `submit_cwd`, else where the caller stands. */
function startDir({ record }: Vector, root: string): string | null {
  const named = record.cwd ?? record.submit_cwd ?? '$CWD';
  return typeof named === 'string' ? place(named, root) : null;
}

function place(text: string, root: string): string {
  return text
    .replaceAll('$LIONAGI_HOME', join(root, 'lionagi'))
    .replaceAll('$HOME', join(root, 'home'))
    .replaceAll('$CWD', join(root, 'cwd'))
    .replaceAll('$BIN', join(root, 'bin'));
}
