import { dirname, join } from 'node:path';
import { LionError } from '../../shared/contract/errors.ts';
import { EnvironmentFault } from '../../shared/environment-fault.ts';
import { isFile } from '../../shared/file-kind.ts';
import type { Answer, Call } from '../verb.ts';

/**
 * `lion daemon run`: the supervisor in the foreground, with this call's own streams and exit status.
 * @throws LionError `invalid_input` for a program: the supervisor's words are no envelope.
 */
export function daemonRun(call: Call): Answer {
  if (call.machine)
    throw new LionError('invalid_input', 'daemon run stays and answers nothing; it takes no --machine');
  const main = join(dirname(call.program.main), '..', 'daemon', 'main.js');
  if (!isFile(main)) throw new EnvironmentFault(`${main} is missing`);
  return { data: {}, human: () => '', become: [call.program.node, main] };
}
