import { readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { errnoOf, hasCode } from '../../errno.ts';
import { readBounded, UnusableFile } from '../../record/read.ts';
import type { Env } from '../../store/home.ts';
import { environmentOfPlist } from './plist.ts';
import { environmentOfUnit } from './unit.ts';

/** The environment a service definition gives, and its file; or, in words, why it cannot be had. */
export type Installed = { readonly env: Env; readonly file: string } | { readonly fault: string };

/**
 * What the supervisor gets as an installed service: the little that the user's service manager gives to all,
 * under what the definition sets. Null where no service is installed for this user.
 */
export function installedEnvironment(userDir: string, shell: Env): Installed | null {
  const user = userOf(shell);
  return systemdEnvironment(userDir, user) ?? launchdEnvironment(userDir, user);
}

interface User {
  readonly name: string;
  readonly shell: string;
  readonly runtimeDir: string;
}

/** systemd's own, and launchd's: what is searched where the definition does not say. */
const SYSTEMD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin';
const LAUNCHD_PATH = '/usr/bin:/bin:/usr/sbin:/sbin';

function systemdEnvironment(userDir: string, user: User): Installed | null {
  const file = join(userDir, '.config', 'systemd', 'user', 'liond.service');
  return reading(file, (text) => {
    const texts = [text, ...dropIns(`${file}.d`)];
    const specifiers = {
      h: userDir,
      u: user.name,
      U: String(process.getuid?.() ?? ''),
      t: user.runtimeDir,
    };
    return {
      ...basics(userDir, user, SYSTEMD_PATH),
      XDG_RUNTIME_DIR: user.runtimeDir,
      ...environmentOfUnit(texts, specifiers),
    };
  });
}

function launchdEnvironment(userDir: string, user: User): Installed | null {
  return reading(join(userDir, 'Library', 'LaunchAgents', 'io.liond.plist'), (text) => {
    const own = environmentOfPlist(text);
    return own === null ? null : { ...basics(userDir, user, LAUNCHD_PATH), ...own };
  });
}

function basics(userDir: string, user: User, path: string): Env {
  return { HOME: userDir, USER: user.name, LOGNAME: user.name, SHELL: user.shell, PATH: path };
}

/** Where `systemctl --user edit` puts what a person changes. */
function dropIns(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith('.conf'))
      .sort()
      .map((name) => textOf(join(dir, name)));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

function reading(file: string, read: (text: string) => Env | null): Installed | null {
  try {
    const env = read(textOf(file));
    return env === null ? { fault: `${file} is not understood` } : { env, file };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    if (!(error instanceof UnusableFile) && errnoOf(error) === null) throw error;
    return { fault: `${file} cannot be read: ${errnoOf(error) ?? (error as Error).message}` };
  }
}

const MAX_DEFINITION_BYTES = 256 * 1024;

function textOf(path: string): string {
  return readBounded(path, MAX_DEFINITION_BYTES).bytes.toString('utf8');
}

/** A user whom the system's own list does not have is who the shell says. */
function userOf(shell: Env): User {
  const runtimeDir = `/run/user/${process.getuid?.() ?? 0}`;
  try {
    const { username, shell: program } = userInfo();
    return { name: username, shell: program ?? '/bin/sh', runtimeDir };
  } catch (error) {
    if (!hasCode(error, 'ERR_SYSTEM_ERROR')) throw error;
    return { name: shell.USER ?? '', shell: shell.SHELL ?? '/bin/sh', runtimeDir };
  }
}
