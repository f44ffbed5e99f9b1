import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { resolveNotifySettings } from '../../../../shared/notify/settings/settings.ts';
import { tempRoot, writeSettings } from './temp-root.ts';

let home: string;
let project: string;

beforeEach(() => {
  const root = tempRoot();
  [home, project] = [join(root, 'home'), join(root, 'project')];
  mkdirSync(home);
  mkdirSync(project);
});

const resolve = (startDir: string | null = project) =>
  resolveNotifySettings({ homeDir: home, startDir, runId: 'run-1', runKind: 'session' });
const exec = (...words: string[]) =>
  `notify: {on_terminal: {adapter: {kind: exec, argv: ${JSON.stringify(words)}}}}\n`;
const LOAD_FAILED = { kind: 'unusable', reason: 'settings_load_failed' };

describe('the notifier of the settings', () => {
  it('is none where there are no settings', () => {
    expect(resolve().command).toEqual({ kind: 'none' });
  });

  it('is what both files say together', () => {
    writeSettings(home, exec('g'));
    writeSettings(project, exec('p'));
    expect(resolve().command).toEqual({ kind: 'argv', argv: ['g', 'p'] });
  });

  it('does not join a file with itself', () => {
    writeSettings(home, exec('g'));
    expect(resolve(join(home, 'work')).command).toEqual({ kind: 'argv', argv: ['g'] });
  });

  it.each([
    ["the project's", () => [writeSettings(home, exec('g')), writeSettings(project, 'notify: [')]],
    ["the user's own", () => [writeSettings(home, 'notify: ['), writeSettings(project, exec('p'))]],
  ])('is not to be had where %s cannot be read, however good the other', (_, lay) => {
    lay();
    expect(resolve().command).toEqual(LOAD_FAILED);
  });

  it('is not to be had where the record names no directory to start from', () => {
    writeSettings(home, exec('g'));
    expect(resolve(null).command).toEqual(LOAD_FAILED);
  });

  it('is read anew each time', () => {
    const path = writeSettings(home, exec('one'));
    expect(resolve().command).toEqual({ kind: 'argv', argv: ['one'] });
    writeFileSync(path, exec('two'));
    expect(resolve().command).toEqual({ kind: 'argv', argv: ['two'] });
    rmSync(path);
    expect(resolve().command).toEqual({ kind: 'none' });
  });
});

describe('the hash of the settings', () => {
  it('is the same while they are', () => {
    writeSettings(home, exec('g'));
    const { configHash } = resolve();
    expect(configHash).toMatch(/^[0-9a-f]{64}$/);
    expect(resolve().configHash).toBe(configHash);
  });

  it('changes with every byte, place and presence, also of files that do not parse', () => {
    const seen = [resolve().configHash];
    const note = () => seen.push(resolve().configHash);
    const own = writeSettings(home, exec('g'));
    note();
    writeFileSync(own, `${exec('g')}# a comment\n`);
    note();
    writeFileSync(own, 'notify: [');
    note();
    writeFileSync(own, 'notify: {');
    note();
    const near = writeSettings(project, exec('g'));
    note();
    rmSync(own);
    note();
    mkdirSync(join(home, '.lionagi'), { recursive: true });
    renameSync(near, own);
    note();
    expect(new Set(seen).size).toBe(seen.length - 1);
    expect(seen.at(-1)).toBe(seen[1]);
  });
});
