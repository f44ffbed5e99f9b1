import { lookAtSupervisor } from '../../shared/daemon/look-at-supervisor.ts';
import { INDEX_VERSION, IMPLEMENTATION_VERSION as VERSION } from '../../shared/version.ts';
import { renderDaemon } from '../render/daemon.ts';
import { lingers } from '../service/linger.ts';
import { userName } from '../service/user-name.ts';
import type { Answer, Call } from '../verb.ts';

/** `lion daemon status`: from the supervisor's files alone, so it answers for one that hangs. */
export async function daemonStatus(call: Call): Promise<Answer> {
  const { instance, condition } = await lookAtSupervisor(await call.open());
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
