import { ConfigError, loadConfig } from '../../shared/config.ts';
import { LionError } from '../../shared/contract/errors.ts';
import { conditionOf } from '../../shared/daemon/condition.ts';
import { readHealth } from '../../shared/daemon/health.ts';
import { lookAtInstance } from '../../shared/daemon/instance-lock.ts';
import { isEnvironmentFault } from '../../shared/environment-fault.ts';
import { errnoOf } from '../../shared/errno.ts';
import { INDEX_VERSION, IMPLEMENTATION_VERSION as VERSION } from '../../shared/version.ts';
import { renderDaemon } from '../render/daemon.ts';
import { lingers } from '../service/linger.ts';
import { userName } from '../service/user-name.ts';
import type { Answer, Call } from '../verb.ts';

/** `lion daemon status`: from the supervisor's files alone, so it answers for one that hangs. */
export async function daemonStatus(call: Call): Promise<Answer> {
  const { home, now } = await call.open();
  const instance = await look(home.stateDir);
  const condition = conditionOf({
    instance,
    health: readHealth(home.stateDir),
    configFault: await configFaultOf(home.configFile),
    ours: { version: VERSION, indexVersion: INDEX_VERSION },
    now: now(),
  });
  const data = {
    state: condition.state,
    running: instance.running,
    pid: instance.running ? instance.pid : null,
    version: instance.running ? instance.version : null,
    started_at: instance.running ? instance.startedAt : null,
    cli_version: VERSION,
    cli_index_version: INDEX_VERSION,
    restart_needed: condition.restartNeeded,
    linger: lingers(userName(call.env)),
    degraded: condition.degraded.map(({ code, cause, cure }) => ({ code, cause, cure })),
    health: condition.health,
  };
  const isWell = condition.state === 'running' && condition.degraded.length === 0;
  return {
    data,
    human: (screen) => renderDaemon(screen, { ...data, condition }),
    exitCode: isWell ? 0 : 1,
  };
}

async function look(stateDir: string): ReturnType<typeof lookAtInstance> {
  try {
    return await lookAtInstance(stateDir);
  } catch (error) {
    const errno = errnoOf(error);
    if (isEnvironmentFault(error) || errno === null) throw error;
    throw new LionError('unavailable', `whether a supervisor runs cannot be told: instance.lock: ${errno}`);
  }
}

async function configFaultOf(path: string): Promise<string | null> {
  try {
    await loadConfig(path);
    return null;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
}
