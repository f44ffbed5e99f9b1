import { ConfigError, loadConfig } from '../config.ts';
import { LionError } from '../contract/errors.ts';
import type { Engine } from '../engine.ts';
import { isEnvironmentFault } from '../environment-fault.ts';
import { errnoOf } from '../errno.ts';
import { IMPLEMENTATION_VERSION, INDEX_VERSION } from '../version.ts';
import { type Condition, type ConditionFacts, conditionOf } from './condition.ts';
import { readHealth } from './health.ts';
import { lookAtInstance } from './instance-lock.ts';

export interface SupervisorLook {
  readonly instance: ConditionFacts['instance'];
  readonly condition: Condition;
}

/**
 * How the supervisor of this store is, from its files alone, so it is told of one that hangs too.
 * @throws EnvironmentFault where this installation cannot lock; LionError `unavailable` where the lock cannot be asked.
 */
export async function lookAtSupervisor({ home, now }: Engine): Promise<SupervisorLook> {
  const instance = await look(home.stateDir);
  const condition = conditionOf({
    instance,
    health: readHealth(home.stateDir),
    configFault: await configFaultOf(home.configFile),
    ours: { version: IMPLEMENTATION_VERSION, indexVersion: INDEX_VERSION },
    now: now(),
  });
  return { instance, condition };
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
