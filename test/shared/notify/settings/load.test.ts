import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadSettingsFile, MAX_SETTINGS_BYTES } from '../../../../shared/notify/settings/load.ts';
import { tempRoot, writeSettings } from './temp-root.ts';

const load = (text: string | Uint8Array) => loadSettingsFile(writeSettings(tempRoot(), text));

describe('one settings file', () => {
  it('is a mapping of what it says', () => {
    expect(load('notify:\n  on_terminal: x\n').settings).toEqual(
      new Map([['notify', new Map([['on_terminal', 'x']])]]),
    );
  });

  it.each(['', '# nothing\n', 'null', '~', 'false', '0', '0.0', '[]', '{}', '""', '\uFEFF'])(
    'says nothing where the whole of it is false: %j',
    (text) => expect(load(text).settings).toEqual(new Map()),
  );

  it.each(['- a\n', 'hello\n', '5\n', 'true', '2026-08-01', '!!set {a}', 'notify: [', 'a: b\n---\nc: d\n'])(
    'is unusable where it is no mapping: %j',
    (text) => expect(load(text).settings).toBeNull(),
  );

  it.each([
    ['a stray byte', [0x61, 0x3a, 0x20, 0xff]],
    ['an overlong slash', [0x61, 0x3a, 0x20, 0xc0, 0xaf]],
    ['half a surrogate pair', [0x61, 0x3a, 0x20, 0xed, 0xa0, 0x80]],
    ['UTF-16', [0xff, 0xfe, 0x61, 0x00, 0x3a, 0x00]],
  ])('is unusable where it is not UTF-8: %s', (_, bytes) => {
    expect(load(Uint8Array.from(bytes)).settings).toBeNull();
  });

  it('is read up to its largest size and not past it', () => {
    const text = `a: b\n#${'x'.repeat(MAX_SETTINGS_BYTES - 6)}`;
    expect(load(text).settings).not.toBeNull();
    expect(load(`${text}x`).settings).toBeNull();
  });

  it('is unusable where it is gone', () => {
    const path = writeSettings(tempRoot(), '');
    rmSync(path);
    expect(loadSettingsFile(path)).toMatchObject({ settings: null, fingerprint: 'ENOENT' });
  });

  it('is unusable where it is a directory', () => {
    const path = join(tempRoot(), 'settings.yaml');
    mkdirSync(path);
    expect(loadSettingsFile(path).settings).toBeNull();
  });

  it('is never waited for, where it is a FIFO', () => {
    const path = join(tempRoot(), 'settings.yaml');
    execFileSync('mkfifo', [path]);
    expect(loadSettingsFile(path).settings).toBeNull();
  });

  it('is unusable where it may not be read', () => {
    const root = tempRoot();
    const path = writeSettings(root, 'a: b\n');
    chmodSync(root, 0o755);
    chmodSync(path, 0);
    expect(asNobody(() => loadSettingsFile(path))).toMatchObject({ settings: null, fingerprint: 'EACCES' });
  });

  it('has another fingerprint for every other content, also for content that does not parse', () => {
    const prints = ['a: b', 'a: c', 'a: [', 'a: {'].map((text) => load(text).fingerprint);
    expect(new Set(prints).size).toBe(4);
    expect(load('a: [').fingerprint).toBe(prints[2]);
  });
});

describe('a variable that makes the yaml package talk', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it.each(['LOG_STREAM', 'LOG_TOKENS'])('%s leaves stdout alone and stays set', (name) => {
    vi.stubEnv(name, '1');
    const printed = [vi.spyOn(console, 'log'), vi.spyOn(console, 'dir'), vi.spyOn(process.stdout, 'write')];
    for (const spy of printed) spy.mockReturnValue(undefined as never);
    const { settings } = load('a: b\n');
    const calls = printed.flatMap((spy) => spy.mock.calls);
    vi.restoreAllMocks();
    expect(settings).not.toBeNull();
    expect(calls).toEqual([]);
    expect(process.env[name]).toBe('1');
  });
});

/** Root reads everything, so it looks as another user. */
function asNobody<T>(look: () => T): T {
  if (process.geteuid?.() !== 0) return look();
  process.seteuid?.(65_534);
  try {
    return look();
  } finally {
    process.seteuid?.(0);
  }
}
