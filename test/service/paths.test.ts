import { describe, expect, it } from 'vitest';
import {
  choosePath,
  isLasting,
  isThrowaway,
  nodeCandidates,
  scriptCandidates,
  servicePath,
} from '../../cli/service/paths.ts';

/** A machine on which exactly these lead to the file. */
function nodeFor(real: string, path: string, links: readonly string[]) {
  return choosePath(real, nodeCandidates(real, path, '/home/u'), (each) => [real, ...links].includes(each));
}

describe('case 7: the path of node that an upgrade leaves in place', () => {
  it.each<[string, string, string, string[], string, boolean]>([
    ['a package of the system', '/usr/bin/node', '/usr/bin', [], '/usr/bin/node', true],
    [
      'Homebrew',
      '/opt/homebrew/Cellar/node/22.1.0/bin/node',
      '/opt/homebrew/bin:/usr/bin',
      ['/opt/homebrew/bin/node'],
      '/opt/homebrew/bin/node',
      true,
    ],
    [
      'a formula that is not linked',
      '/opt/homebrew/Cellar/node@20/20.1.0_1/bin/node',
      '/usr/bin',
      ['/opt/homebrew/opt/node@20/bin/node'],
      '/opt/homebrew/opt/node@20/bin/node',
      true,
    ],
    [
      'nvm',
      '/home/u/.nvm/versions/node/v20.11.0/bin/node',
      '/home/u/.nvm/versions/node/v20.11.0/bin:/usr/bin',
      [],
      '/home/u/.nvm/versions/node/v20.11.0/bin/node',
      false,
    ],
    [
      'nvm with its link',
      '/home/u/.nvm/versions/node/v20.11.0/bin/node',
      '/usr/bin',
      ['/home/u/.nvm/current/bin/node'],
      '/home/u/.nvm/current/bin/node',
      true,
    ],
    [
      'fnm',
      '/home/u/.local/share/fnm/node-versions/v20.1.0/installation/bin/node',
      '/run/user/1000/fnm_multishells/7_1/bin',
      ['/run/user/1000/fnm_multishells/7_1/bin/node', '/home/u/.local/share/fnm/aliases/default/bin/node'],
      '/home/u/.local/share/fnm/aliases/default/bin/node',
      true,
    ],
    [
      'mise',
      '/home/u/.local/share/mise/installs/node/20.11.0/bin/node',
      '/home/u/.local/share/mise/installs/node/20/bin',
      ['/home/u/.local/share/mise/installs/node/20/bin/node'],
      '/home/u/.local/share/mise/installs/node/20/bin/node',
      true,
    ],
    [
      'Nix',
      '/nix/store/abc-nodejs-20.11.0/bin/node',
      '/home/u/.nix-profile/bin',
      ['/home/u/.nix-profile/bin/node'],
      '/home/u/.nix-profile/bin/node',
      true,
    ],
    [
      'another node on the PATH',
      '/opt/node-v20.1.0-linux-x64/bin/node',
      '/usr/bin',
      [],
      '/opt/node-v20.1.0-linux-x64/bin/node',
      false,
    ],
  ])('%s', (_what, real, path, links, chosen, lasting) => {
    expect(nodeFor(real, path, links)).toEqual({ path: chosen, lasting });
  });

  it.each<[string, string, string[], string]>([
    [
      'npm',
      '/usr/lib/node_modules/liond/dist/daemon/main.js',
      ['/usr/bin/liond'],
      '/usr/lib/node_modules/liond/dist/daemon/main.js',
    ],
    [
      'pnpm',
      '/home/u/p/global/5/.pnpm/liond@0.1.0/node_modules/liond/dist/daemon/main.js',
      ['/home/u/p/global/5/node_modules/liond/dist/daemon/main.js'],
      '/home/u/p/global/5/node_modules/liond/dist/daemon/main.js',
    ],
    [
      'Homebrew',
      '/opt/homebrew/Cellar/liond/0.1.0/libexec/dist/daemon/main.js',
      ['/opt/homebrew/opt/liond/libexec/dist/daemon/main.js'],
      '/opt/homebrew/opt/liond/libexec/dist/daemon/main.js',
    ],
    [
      'a command on the PATH',
      '/srv/liond-0.1.0/dist/daemon/main.js',
      ['/usr/local/bin/liond'],
      '/usr/local/bin/liond',
    ],
  ])('and of the script: %s', (_what, real, links, chosen) => {
    const leads = (each: string): boolean => [real, ...links].includes(each);
    expect(choosePath(real, scriptCandidates(real, '/usr/local/bin:/usr/bin'), leads)).toEqual({
      path: chosen,
      lasting: true,
    });
  });

  it('what is cleaned away by itself is known', () => {
    expect(isThrowaway('/home/u/.npm/_npx/0f/node_modules/liond/dist/daemon/main.js')).toBe(true);
    expect(['/tmp/x/node', '/private/var/folders/x/node', '/run/user/1/x'].map(isLasting)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it("the service's PATH: the shell's, without what is only of this shell, with node's and the system's", () => {
    const path =
      'bin:.::/home/u/.local/bin:/run/user/1/fnm_multishells/2/bin:/p/node_modules/.bin:/usr/bin:/usr/bin';
    expect(servicePath(path, '/opt/homebrew/bin/node')).toBe(
      '/home/u/.local/bin:/usr/bin:/opt/homebrew/bin:/usr/local/bin:/bin',
    );
    expect(servicePath(undefined, '/usr/bin/node')).toBe('/usr/bin:/usr/local/bin:/bin');
  });
});
