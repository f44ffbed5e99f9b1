import { statSync } from 'node:fs';
import { LionError } from '../../shared/contract/errors.ts';
import { isFile } from '../../shared/file-kind.ts';
import { locateProgram } from '../../shared/process/startable.ts';
import { homeOf } from '../../shared/store/home.ts';
import type { Call } from '../verb.ts';
import { commandRunner } from './run-command.ts';
import type { Manager, Place } from './service.ts';
import { userName } from './user-name.ts';

/**
 * The manager of this user's services.
 * @throws LionError `unavailable` where there is none, or it cannot be reached.
 */
export async function openManager(call: Call): Promise<Manager> {
  const place = placeOf(call);
  // By what is there, not by the name of the system: no machine has both.
  if (place.hasProgram('launchctl')) return await (await import('./launchd.ts')).openLaunchd(place);
  if (place.hasProgram('systemctl')) return await (await import('./systemd.ts')).openSystemd(place);
  throw new LionError(
    'unavailable',
    'there is neither systemctl nor launchctl on the PATH, so no service can be installed; have another supervisor of processes run: lion daemon run',
  );
}

function placeOf(call: Call): Place {
  const home = homeOf(call.env, '/');
  const uid = process.getuid?.() ?? 0;
  const user = { name: userName(call.env), uid };
  refuseOthersHome(home.userDir, uid);
  const { XDG_RUNTIME_DIR } = call.env;
  // After su or sudo it is not set, and the user's manager is there all the same.
  const env = { ...call.env, XDG_RUNTIME_DIR: XDG_RUNTIME_DIR || `/run/user/${uid}` };
  return {
    call,
    home,
    user,
    env,
    run: commandRunner(env, call.signal),
    hasProgram: (name) => locateProgram(name, '/', call.env.PATH).some(isFile),
  };
}

/** `sudo` that keeps HOME would leave files of root in it, and the service would not be the user's. */
function refuseOthersHome(userDir: string, uid: number): void {
  const stat = statSync(userDir, { throwIfNoEntry: false });
  if (stat === undefined) throw new LionError('unavailable', `HOME is ${userDir}, which is not there`);
  if (stat.uid !== uid)
    throw new LionError(
      'unavailable',
      `HOME is ${userDir}, which belongs to user ${stat.uid} while this runs as user ${uid}; run it as that user, without sudo`,
    );
}
