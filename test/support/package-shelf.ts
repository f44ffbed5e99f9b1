import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MODULES } from './bundle.ts';
import type { World } from './world.ts';

const LOCK = fileURLToPath(new URL('../../package-lock.json', import.meta.url));

/** Large, and of use only to who compiles. */
const LEFT_OUT = /\/(deps|build|node_modules)(\/|$)/;

export interface Shelf {
  /** For npm's `--registry`. */
  readonly url: string;
}

/**
 * A registry on this machine that has what is in our `node_modules`, so that an installation needs no network
 * and is given the very packages that the tests ran with.
 * @param scripts instead of a package's own ones, by its name.
 */
export async function openShelf(
  world: World,
  scripts: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Promise<Shelf> {
  const directory = join(world.root, 'shelf');
  mkdirSync(directory, { recursive: true });
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    const [name = '', version] = path.split('/-/');
    if (version === undefined) return sendJson(response, packument(name, scripts, `${url}/${name}/-/`));
    response.end(readFileSync(tarball(directory, name, version, scripts)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world.onDispose(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url };
}

function sendJson(response: ServerResponse, value: object | null): void {
  response.statusCode = value === null ? 404 : 200;
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value ?? {}));
}

type Scripts = Parameters<typeof openShelf>[1];

function packument(name: string, scripts: Scripts, base: string): object | null {
  const versions = Object.fromEntries(
    directoriesOf(name).map((from) => {
      const manifest = manifestOf(from, name, scripts);
      return [manifest.version, { ...manifest, dist: { tarball: `${base}${manifest.version}` } }];
    }),
  );
  const [latest] = Object.keys(versions);
  return latest === undefined ? null : { name, versions, 'dist-tags': { latest } };
}

/** Every place where the package is, for another version of it may lie in a package that needs that. */
function directoriesOf(name: string): string[] {
  const { packages } = JSON.parse(readFileSync(LOCK, 'utf8')) as { packages: Record<string, unknown> };
  return Object.keys(packages)
    .filter((key) => key.endsWith(`node_modules/${name}`))
    .map((key) => join(MODULES, '..', key))
    .filter((directory) => existsSync(directory));
}

function manifestOf(
  directory: string,
  name: string,
  scripts: Scripts,
): { version: string; scripts?: object } {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const given = scripts?.[name];
  // A registry says so of itself; npm looks at no script where it does not.
  return given === undefined ? manifest : { ...manifest, scripts: given, hasInstallScript: true };
}

function tarball(shelf: string, name: string, version: string, scripts: Scripts): string {
  const file = join(shelf, `${name.replace('/', '-')}-${version}.tgz`);
  if (existsSync(file)) return file;
  const from = directoriesOf(name).find((each) => manifestOf(each, name, scripts).version === version) ?? '';
  const staged = join(shelf, basename(file, '.tgz'), 'package');
  cpSync(from, staged, { recursive: true, filter: (path) => !LEFT_OUT.test(path.slice(from.length)) });
  writeFileSync(join(staged, 'package.json'), JSON.stringify(manifestOf(from, name, scripts)));
  execFileSync('tar', ['czf', file, '-C', join(staged, '..'), 'package']);
  return file;
}
