import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where everything of a store lives (design 10). Every path of the product is derived here. */
export interface Home {
  /** The user's own directory: settings.yaml of the user is under it. */
  readonly userDir: string;
  /** `$LIONAGI_HOME`, else `~/.lionagi`. */
  readonly root: string;
  readonly jobsDir: string;
  /** The engine's own runs: manifests, artifacts, notice outcomes. */
  readonly runsDir: string;
  /** State of the supervisor; never inside the jobs directory. */
  readonly stateDir: string;
  readonly configFile: string;
}

export type Env = Readonly<Record<string, string | undefined>>;

export function homeOf(env: Env, cwd: string): Home {
  const userDir = env.HOME || homedir();
  const named = env.LIONAGI_HOME?.replace(/^~(?=\/|$)/, userDir);
  const root = named ? resolve(cwd, named) : join(userDir, '.lionagi');
  return {
    userDir,
    root,
    jobsDir: join(root, 'mcp', 'jobs'),
    runsDir: join(root, 'runs'),
    stateDir: join(root, 'mcp', 'liond'),
    configFile: join(root, 'mcp', 'liond.yaml'),
  };
}

export function runDirOf(home: Home, runId: string): string {
  return join(home.jobsDir, runId);
}

/** The state directory of the store that a run's directory lies in. */
export function stateDirBeside(runDir: string): string {
  return join(runDir, '..', '..', 'liond');
}
