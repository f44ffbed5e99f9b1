import type { Engine } from '../../engine.ts';
import type { Env } from '../../store/home.ts';
import { installedEnvironment } from './installed.ts';
import { supervisorEnvironment } from './supervisor.ts';

export interface NotifierEnvironment {
  readonly environment: 'service' | 'supervisor' | 'shell';
  readonly env: Env;
  /** Where it is from and what could not be had, for a person. */
  readonly words: string;
}

/**
 * The environment that notices are sent in when nobody is at a terminal: that of the installed service, else of
 * the supervisor that runs, else, for want of a better one, this shell's.
 */
export async function notifierEnvironment(engine: Engine): Promise<NotifierEnvironment> {
  const installed = installedEnvironment(engine.home.userDir, engine.env);
  if (installed !== null && 'env' in installed) {
    return { environment: 'service', env: installed.env, words: `the service's, from ${installed.file}` };
  }
  const running = await supervisorEnvironment(engine.home);
  const faults = [installed, running].flatMap((each) =>
    each !== null && 'fault' in each ? [each.fault] : [],
  );
  if (running !== null && 'env' in running) {
    const words = [`the running supervisor's, process ${running.pid}`, ...faults].join('; ');
    return { environment: 'supervisor', env: running.env, words };
  }
  const why = faults.length > 0 ? faults : ['no service is installed and no supervisor runs'];
  return { environment: 'shell', env: engine.env, words: `this shell's: ${why.join('; ')}` };
}
