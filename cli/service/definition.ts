import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LionError } from '../../shared/contract/errors.ts';
import { EnvironmentFault } from '../../shared/environment-fault.ts';
import { errnoOf, hasCode } from '../../shared/errno.ts';
import { isOurs } from './mark.ts';

/** A template of this package, as `systemd/liond.service`. */
export function templateText(main: string, name: string): string {
  const path = join(dirname(main), '..', '..', name);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    throw new EnvironmentFault(`${path} cannot be read: ${errnoOf(error)}`);
  }
}

/**
 * The definition that is installed; null: none.
 * @throws LionError `conflict` for one that `lion daemon install` did not write, `unavailable` for an unreadable one.
 */
export function installedDefinition(path: string): string | null {
  let text: string;
  try {
    // A link is somebody's own arrangement: also systemctl mask makes one.
    if (!lstatSync(path).isFile()) throw notOurs(path);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    if (errnoOf(error) === null) throw error;
    throw new LionError('unavailable', `${path} cannot be read: ${errnoOf(error)}`);
  }
  if (!isOurs(text)) throw notOurs(path);
  return text;
}

function notOurs(path: string): LionError {
  return new LionError(
    'conflict',
    `${path} was not written by lion daemon install and is left alone; move it away first if lion is to look after the service`,
  );
}

/** @throws LionError `not_found` */
export function notInstalled(): LionError {
  return new LionError('not_found', 'no service is installed; install it: lion daemon install');
}
