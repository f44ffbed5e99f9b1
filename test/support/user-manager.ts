import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LionCall } from './lion.ts';
import { asUser, whyNoNamespaces } from './namespaces.ts';
import { waitUntil } from './wait-until.ts';
import type { World } from './world.ts';

const SYSTEMD = ['/lib/systemd/systemd', '/usr/lib/systemd/systemd'].find(existsSync);
/** The hierarchies that systemd keeps groups in: its own two where there are several, else the only one. */
const SEVERAL = ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified'].filter((path) => existsSync(path));
const CGROUPS = SEVERAL.length > 0 ? SEVERAL : ['/sys/fs/cgroup'];

/** Why no user manager of systemd can be started here; null: one can. */
export function whyNoUserManager(): string | null {
  if (SYSTEMD === undefined) return 'needs systemd';
  try {
    for (const path of CGROUPS) accessSync(path, constants.W_OK);
  } catch {
    return 'needs control groups of its own';
  }
  return whyNoNamespaces();
}

/** A real `systemd --user` in namespaces of its own, for a user whose home is the world's. */
export interface UserManager {
  /** For `runLion` and its likes: what runs in there and finds the manager by itself. */
  readonly call: Pick<LionCall, 'through'>;
  systemctl(...args: readonly string[]): string;
  /** A property of the service. */
  shows(property: string): string;
  /** A pid as it is called in there. */
  signal(pid: number, signal: 'KILL' | 'STOP'): void;
  isThere(pid: number): boolean;
  run(...command: readonly string[]): string;
}

const SCRIPT = `set -e
mount -t tmpfs none /run
mkdir -p /run/systemd/system /run/user/"$2" /var/lib/systemd
chmod 700 /run/user/"$2"
chown "$2" /run/user/"$2"
mount -t tmpfs none /var/lib/systemd
systemd=$1 uid=$2
shift 2
for group; do mkdir -p "$group"; echo $$ > "$group/cgroup.procs"; chown -R "$uid" "$group"; done
setpriv --reuid "$uid" --regid "$uid" --clear-groups "$systemd" --user --log-target=console &
wait`;

/** @param uid the world becomes this user's */
export async function startUserManager(world: World, uid = 0): Promise<UserManager> {
  if (uid !== 0) execFileSync('chown', ['-R', String(uid), world.root]);
  const runtimeDir = `/run/user/${uid}`;
  const groups = CGROUPS.map((path) => join(path, `liond-test-${process.pid}`));
  const child = spawn(
    'unshare',
    [
      '-m',
      '-p',
      '-f',
      '--mount-proc',
      '--propagation',
      'private',
      '--kill-child',
      'sh',
      '-c',
      SCRIPT,
      'sh',
      SYSTEMD ?? '',
      String(uid),
      ...groups,
    ],
    { env: { ...world.env, XDG_RUNTIME_DIR: runtimeDir }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const gone = once(child, 'close');
  world.onDispose(async () => {
    child.kill('SIGKILL');
    await gone;
    await waitUntil('the control groups to be empty', () => groups.map(removed).every(Boolean));
  });
  const inside = await waitUntil(
    'the namespace',
    () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim() || null,
  );
  const inNamespaces = ['nsenter', '-t', inside, '-m', '-p', `--wd=${world.cwd}`];
  const through = uid === 0 ? inNamespaces : [...inNamespaces, ...asUser(uid)];
  const run = (...command: readonly string[]): string => {
    const [program = '', ...args] = [...through, ...command];
    return execFileSync(program, args, {
      env: { ...world.env, XDG_RUNTIME_DIR: runtimeDir },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };
  const systemctl = (...args: readonly string[]): string => run('systemctl', '--user', ...args).trimEnd();
  let last = '';
  const isUp = (): boolean => {
    try {
      last = systemctl('is-system-running');
    } catch (error) {
      last = String(error);
    }
    return last === 'running';
  };
  await waitUntil('the user manager to run', isUp, 10_000).catch((error) => {
    throw new Error(`${error.message}; ${last}; ${said}`);
  });
  return {
    call: { through },
    run,
    systemctl,
    shows: (property) => systemctl('show', 'liond.service', `--property=${property}`, '--value'),
    signal: (pid, signal) => void run('kill', `-${signal}`, String(pid)),
    isThere: (pid) => run('sh', '-c', `test -e /proc/${pid} && echo yes || echo no`).trim() === 'yes',
  };
}

/** The groups of a manager that is gone, from the leaves up. */
function removed(group: string): boolean {
  if (!existsSync(group)) return true;
  try {
    for (const name of readdirSync(group))
      if (statSync(join(group, name)).isDirectory()) removed(join(group, name));
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}
