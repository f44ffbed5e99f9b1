import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findSettingsFiles } from '../../../../shared/notify/settings/find.ts';
import { tempRoot, writeSettings } from './temp-root.ts';

let home: string;
let project: string;

beforeEach(() => {
  const root = tempRoot();
  home = join(root, 'home');
  project = join(root, 'project');
  mkdirSync(join(project, 'a', 'b'), { recursive: true });
  mkdirSync(home);
});

describe('which settings files count', () => {
  it('none, where there are none', () => {
    expect(findSettingsFiles(home, project)).toEqual([]);
  });

  it("the user's own lies under the project's", () => {
    const own = writeSettings(home, '');
    const near = writeSettings(project, '');
    expect(findSettingsFiles(home, project)).toEqual([own, near]);
  });

  it('the nearest at or above the start hides every farther one', () => {
    writeSettings(project, '');
    const near = writeSettings(join(project, 'a'), '');
    expect(findSettingsFiles(home, join(project, 'a', 'b'))).toEqual([near]);
  });

  it('a start that is gone still names its parents', () => {
    const above = writeSettings(project, '');
    expect(findSettingsFiles(home, join(project, 'gone', 'deeper'))).toEqual([above]);
  });

  it('a start that is a file names its parents', () => {
    const above = writeSettings(project, '');
    expect(findSettingsFiles(home, above)).toEqual([above]);
  });

  it('no dot-dot is folded: what the text has as a parent is looked at', () => {
    const a = writeSettings(join(project, 'a'), '');
    const start = `${project}/a/../gone`;
    expect(findSettingsFiles(home, start)).toEqual([a]);
    writeSettings(project, '');
    expect(findSettingsFiles(home, start)).toEqual([`${project}/a/../.lionagi/settings.yaml`]);
  });

  it('dots and doubled slashes are no directories', () => {
    const above = writeSettings(project, '');
    expect(findSettingsFiles(home, `${project}/./a//b/`)).toEqual([above]);
  });

  it.each([
    ['a directory', (path: string) => mkdirSync(path)],
    ['a link that leads nowhere', (path: string) => symlinkSync('nowhere', path)],
    ['a link to itself', (path: string) => symlinkSync(path, path)],
    ['a device', (path: string) => symlinkSync('/dev/null', path)],
  ])('%s of that name is not a file', (_, make) => {
    const above = writeSettings(project, '');
    mkdirSync(join(project, 'a', '.lionagi'));
    make(join(project, 'a', '.lionagi', 'settings.yaml'));
    expect(findSettingsFiles(home, join(project, 'a'))).toEqual([above]);
  });

  it('a file where the directory should be hides nothing', () => {
    const above = writeSettings(project, '');
    linkSync(above, join(project, 'a', '.lionagi'));
    expect(findSettingsFiles(home, join(project, 'a'))).toEqual([above]);
  });

  it('a name the system will not look at counts, since what it says is not known', () => {
    const tooLong = `${project}/${'x'.repeat(300)}`;
    writeSettings(project, '');
    expect(findSettingsFiles(home, tooLong)).toEqual([`${tooLong}/.lionagi/settings.yaml`]);
  });

  it('a NUL in the start is no file, and its parents are looked at', () => {
    const above = writeSettings(project, '');
    expect(findSettingsFiles(home, `${project}/a\0b`)).toEqual([above]);
  });
});

describe("the user's own file reached again from below is named once", () => {
  it('by the same path', () => {
    const own = writeSettings(home, '');
    expect(findSettingsFiles(home, join(home, 'work', 'deep'))).toEqual([own]);
  });

  it('by a link to the home', () => {
    const own = writeSettings(home, '');
    symlinkSync(home, join(project, 'linked'));
    expect(findSettingsFiles(home, join(project, 'linked', 'work'))).toEqual([own]);
  });

  it('by a link to the file', () => {
    const own = writeSettings(home, '');
    mkdirSync(join(project, '.lionagi'));
    symlinkSync(own, join(project, '.lionagi', 'settings.yaml'));
    expect(findSettingsFiles(home, project)).toEqual([own]);
  });

  it('but a project below the home with a file of its own has two', () => {
    const own = writeSettings(home, '');
    const near = writeSettings(join(home, 'work'), '');
    expect(findSettingsFiles(home, join(home, 'work', 'deep'))).toEqual([own, near]);
  });
});
