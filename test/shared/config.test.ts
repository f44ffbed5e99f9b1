import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../shared/config.ts';
import { DEFAULT_CONFIG } from '../../shared/config-defaults.ts';
import { parseConfig } from '../../shared/config-schema.ts';
import { homeOf } from '../../shared/store/home.ts';
import { inWorld } from '../support/in-world.ts';

const BOOLEAN = 'true or false';
const NOT_BOOLEAN = ['1', '"true"', 'yes', 'null', '[]', '{}'];
const NOT_NUMBER = ['"5"', 'true', 'null', '[1]', '.nan', '.inf', '-.inf', '-1'];
const TOP = ['judge_unowned_records', 'watch', 'index', 'usage_interval_seconds', 'notify', 'retention'];
const OUTCOMES = 'succeeded, failed, cancelled, indeterminate';

interface Key {
  readonly takes: string;
  /** Written value, and what it comes to. */
  readonly good: readonly (readonly [string, unknown])[];
  readonly bad: readonly string[];
  /** In the configuration. */
  readonly at: string;
}

const KEYS: Readonly<Record<string, Key>> = {
  judge_unowned_records: {
    takes: BOOLEAN,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: NOT_BOOLEAN,
    at: 'judgeUnownedRecords',
  },
  watch: {
    takes: BOOLEAN,
    good: [
      ['false', false],
      ['True', true],
    ],
    bad: NOT_BOOLEAN,
    at: 'watch',
  },
  index: { takes: BOOLEAN, good: [['false', false]], bad: NOT_BOOLEAN, at: 'index' },
  usage_interval_seconds: {
    takes: '0, or 1 to 3600',
    good: [
      ['0', 0],
      ['1', 1_000],
      ['2.5', 2_500],
      ['3600', 3_600_000],
    ],
    bad: [...NOT_NUMBER, '0.5', '3601'],
    at: 'usageIntervalMs',
  },
  notify: {
    takes: 'a mapping',
    good: [['{}', DEFAULT_CONFIG.notify]],
    bad: ['5', 'true', '[]', '"x"', 'null', ''],
    at: 'notify',
  },
  retention: {
    takes: 'a mapping',
    good: [['{}', DEFAULT_CONFIG.retention]],
    bad: ['5', 'true', '[]', '"x"', 'null', ''],
    at: 'retention',
  },
  'retention.older_than_days': {
    takes: '1 to 36500',
    good: [
      ['1', 86_400_000],
      ['1.5', 129_600_000],
    ],
    bad: [...NOT_NUMBER, '0.5', '36501'],
    at: 'retention.olderThanMs',
  },
  'retention.keep_runs': {
    takes: 'a whole number from 1 to 10000000',
    good: [['5', 5]],
    bad: [...NOT_NUMBER, '0', '1.5', '10000001'],
    at: 'retention.keepNewest',
  },
  'retention.max_size_gb': {
    takes: '0.001 to 1000000',
    good: [['2', 2 * 1024 ** 3]],
    bad: [...NOT_NUMBER, '0', '1000001'],
    at: 'retention.maxBytes',
  },
  'notify.timeout_seconds': {
    takes: '0.1 to 600',
    good: [
      ['0.1', 100],
      ['600', 600_000],
    ],
    bad: [...NOT_NUMBER, '0', '0.09', '600.1'],
    at: 'notify.timeoutMs',
  },
  'notify.at_once': {
    takes: 'a whole number from 1 to 64',
    good: [
      ['1', 1],
      ['64', 64],
    ],
    bad: [...NOT_NUMBER, '0', '65', '1.5'],
    at: 'notify.atOnce',
  },
  'notify.max_attempts': {
    takes: 'a whole number from 1 to 100',
    good: [
      ['1', 1],
      ['100', 100],
    ],
    bad: [...NOT_NUMBER, '0', '101', '2.5'],
    at: 'notify.maxAttempts',
  },
  'notify.backoff_base_seconds': {
    takes: '0.01 to 3600',
    good: [
      ['0.01', 10],
      ['3600', 3_600_000],
    ],
    bad: [...NOT_NUMBER, '0', '3601'],
    at: 'notify.backoffBaseMs',
  },
  'notify.backoff_cap_seconds': {
    takes: '0.01 to 86400',
    good: [
      ['0.01', 10],
      ['86400', 86_400_000],
    ],
    bad: [...NOT_NUMBER, '0', '86401'],
    at: 'notify.backoffCapMs',
  },
  'notify.lasts_hours': {
    takes: '0 to 48',
    good: [
      ['0', 0],
      ['0.5', 1_800_000],
      ['48', 172_800_000],
    ],
    bad: [...NOT_NUMBER, '48.1'],
    at: 'notify.lastsMs',
  },
  'notify.expires_hours': {
    takes: '0 to 48',
    good: [
      ['0', 0],
      ['48', 172_800_000],
    ],
    bad: [...NOT_NUMBER, '49'],
    at: 'notify.expiresMs',
  },
  'notify.retry_unknown': {
    takes: BOOLEAN,
    good: [['true', true]],
    bad: NOT_BOOLEAN,
    at: 'notify.retryUnknown',
  },
  'notify.skip_outcomes': {
    takes: `a list of ${OUTCOMES}`,
    good: [
      ['[]', []],
      ['[cancelled]', ['cancelled']],
      [`[${OUTCOMES}]`, OUTCOMES.split(', ')],
    ],
    bad: ['cancelled', '[killed]', '[1]', '[null]', '{}', 'null', '[succeeded, Failed]'],
    at: 'notify.skipOutcomes',
  },
  'notify.skip_own_kills': {
    takes: BOOLEAN,
    good: [['true', true]],
    bad: NOT_BOOLEAN,
    at: 'notify.skipOwnKills',
  },
};

/** The configuration's text with this key alone. */
function withKey(key: string, value: string): string {
  const [first = '', second] = key.split('.');
  return second === undefined ? `${first}: ${value}\n` : `${first}:\n  ${second}: ${value}\n`;
}

function valueAt(config: object, path: string): unknown {
  return path.split('.').reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], config);
}

/** The defaults with one value replaced. */
function defaultsWith(path: string, value: unknown): unknown {
  const [first = '', second] = path.split('.');
  if (second === undefined) return { ...DEFAULT_CONFIG, [first]: value };
  return { ...DEFAULT_CONFIG, [first]: { ...(valueAt(DEFAULT_CONFIG, first) as object), [second]: value } };
}

describe('a key of liond.yaml', () => {
  const good = Object.entries(KEYS).flatMap(([key, { good, at }]) =>
    good.map(([text, value]) => [key, text, at, value] as const),
  );
  it.each(good)('%s: %s is taken, and nothing else changes', (key, text, at, value) => {
    expect(parseConfig(withKey(key, text))).toEqual(defaultsWith(at, value));
  });

  const bad = Object.entries(KEYS).flatMap(([key, { bad, takes }]) =>
    bad.map((text) => [key, text, takes] as const),
  );
  it.each(bad)('%s: %s is refused; the message names the key and what it takes', (key, text, takes) => {
    expect(parseConfig(withKey(key, text))).toBe(`${key} takes ${takes}`);
  });

  it('that is none is named, with all there are: and these are all', () => {
    const inNotify = Object.keys(KEYS).filter((key) => key.startsWith('notify.'));
    const inRetention = Object.keys(KEYS).filter((key) => key.startsWith('retention.'));
    expect(parseConfig('wacth: true')).toBe(`unknown key wacth; it takes ${TOP.join(', ')}`);
    expect(parseConfig('notify: {tries: 1}')).toBe(
      `unknown key notify.tries; it takes ${inNotify.join(', ')}`,
    );
    expect(Object.keys(KEYS).sort()).toEqual([...TOP, ...inNotify, ...inRetention].sort());
  });

  it('left out is its default', () => {
    for (const text of ['', '# nothing\n', '{}', '---\n']) expect(parseConfig(text)).toEqual(DEFAULT_CONFIG);
    for (const { at } of Object.values(KEYS)) expect(valueAt(DEFAULT_CONFIG, at)).toBeDefined();
  });

  it('that is wrong hides no other that is wrong: all are said, each once', () => {
    const message = parseConfig('watch: 5\nindx: true\nnotify: {skip_outcomes: [a, b], at_once: 0}\n');
    expect(String(message).split('; it takes').length).toBe(2);
    expect(message).toContain('watch takes true or false');
    expect(message).toContain('unknown key indx');
    expect(message).toContain('notify.at_once takes');
    expect(String(message).match(/skip_outcomes/g)).toHaveLength(1);
  });
});

describe('a liond.yaml that is no configuration is said to be none, in words', () => {
  it.each<[string, string, RegExp]>([
    ['a number', '5', /^it is not a mapping$/],
    ['a list', '- watch', /^it is not a mapping$/],
    ['text', 'watch', /^it is not a mapping$/],
    ['no YAML', 'watch: [', /line 1/],
    ['a key twice', 'watch: true\nwatch: false', /unique/],
    ['two documents', '--- {}\n--- {}', /multiple documents/],
    ['an alias of nothing', 'watch: *there', /there/],
    ['aliases without end', bombed(), /[Aa]lias/],
    ['a key an object has by itself', '__proto__: {watch: false}', /unknown key __proto__/],
  ])('%s', (_what, text, message) => {
    expect(parseConfig(text)).toMatch(message);
  });
});

/** Each line is nine of the line before. */
function bombed(): string {
  const lines = ['a0: &a0 x'];
  for (let n = 1; n < 6; n++)
    lines.push(
      `a${n}: &a${n} [${Array(9)
        .fill(`*a${n - 1}`)
        .join(',')}]`,
    );
  return lines.join('\n');
}

describe('the file', () => {
  it('that is not there is the defaults; one that is there and not to be read is a fault that names it', async () => {
    await inWorld(async (world) => {
      const path = homeOf(world.env, world.cwd).configFile;
      expect(await loadConfig(path)).toEqual(DEFAULT_CONFIG);
      mkdirSync(path, { recursive: true });
      await expect(loadConfig(path)).rejects.toThrow(ConfigError);
      await expect(loadConfig(path)).rejects.toThrow(path);
    });
  });

  it('that is wrong is a fault that names file and key', async () => {
    await inWorld(async (world) => {
      const path = homeOf(world.env, world.cwd).configFile;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'notify: {at_once: 0}\n');
      chmodSync(path, 0o600);
      const fault = `${path}: notify.at_once takes a whole number from 1 to 64`;
      await expect(loadConfig(path)).rejects.toThrow(new ConfigError(fault));
      writeFileSync(path, `# ${'x'.repeat(300 * 1024)}\n`);
      await expect(loadConfig(path)).rejects.toThrow(ConfigError);
    });
  });
});
