import { join } from 'node:path';
import { LionError } from '../../shared/contract/errors.ts';
import { homeOf } from '../../shared/store/home.ts';
import { renderDryRun, renderService } from '../render/service.ts';
import { carryOut } from '../service/carry-out.ts';
import { openManager } from '../service/manager.ts';
import { lastWord } from '../service/own-log.ts';
import { type Plan, stepData } from '../service/plan.ts';
import { commandRunner } from '../service/run-command.ts';
import type { Control, Manager, ServiceState } from '../service/service.ts';
import type { Answer, Call } from '../verb.ts';

interface DryRun {
  readonly dryRun?: boolean;
}

/** `lion daemon install`: the supervisor as a service of this user. Done twice it is as done once. */
export async function daemonInstall(call: Call, options: DryRun & { linger?: boolean }): Promise<Answer> {
  const manager = await openManager(call);
  const plan = await manager.planInstall({ linger: options.linger === true });
  return await answer(call, manager, plan, options);
}

/** `lion daemon uninstall`: takes back what `install` did, and nothing else. */
export async function daemonUninstall(call: Call, options: DryRun): Promise<Answer> {
  const manager = await openManager(call);
  return await answer(call, manager, await manager.planUninstall(), options);
}

/** `lion daemon start | stop | restart`: of the installed service. */
export async function daemonControl(call: Call, control: Control): Promise<Answer> {
  const manager = await openManager(call);
  return await answer(call, manager, await manager.planControl(control), {});
}

async function answer(call: Call, manager: Manager, plan: Plan, { dryRun = false }: DryRun): Promise<Answer> {
  if (!dryRun) await carry(call, manager, plan);
  const { state, pid, linger } = await stateAfter(manager, dryRun ? null : plan);
  const data = {
    manager: manager.name,
    file: manager.file,
    dry_run: dryRun,
    result: plan.result,
    steps: plan.steps.map(stepData),
    state,
    pid,
    linger,
    notes: [...plan.notes],
  };
  return {
    data,
    human: (screen) =>
      dryRun
        ? renderDryRun(plan)
        : renderService(screen, plan, { manager: manager.name, file: manager.file, state, pid }),
  };
}

/** @throws LionError `unavailable` that says first what has been done. */
async function stateAfter(manager: Manager, done: Plan | null): Promise<ServiceState> {
  try {
    return await manager.state();
  } catch (error) {
    if (!(error instanceof LionError) || done === null || done.steps.length === 0) throw error;
    const words = `all was done (${done.result}), and how the service is now cannot be told: ${error.message}`;
    throw new LionError(error.kind, `${words}; see: lion daemon status`);
  }
}

/** @throws LionError `unavailable` with the supervisor's own last word, where it has one. */
async function carry(call: Call, manager: Manager, plan: Plan): Promise<void> {
  const beganMs = Date.now();
  const hands = {
    run: commandRunner(manager.env, call.signal),
    // What was begun is taken back also when the caller is in a hurry.
    undo: commandRunner(manager.env, new AbortController().signal),
    signal: call.signal,
  };
  try {
    await carryOut(plan.steps, hands);
  } catch (error) {
    if (!(error instanceof LionError)) throw error;
    const said = lastWord(join(homeOf(call.env, '/').stateDir, 'liond.log'), beganMs);
    throw said === null ? error : new LionError(error.kind, `${error.message}; liond says: ${said}`);
  }
}
