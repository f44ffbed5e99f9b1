import type { Env } from '../shared/store/home.ts';

/** What the service manager is told; each call is one datagram, and one that cannot be sent is let go. */
export interface ServiceManager {
  ready(): void;
  status(text: string): void;
  stopping(): void;
  watchdog(): void;
  /** How often `watchdog` is to be called; null: nobody waits for it. */
  readonly watchdogIntervalMs: number | null;
}

/** sd_notify(3). Without NOTIFY_SOCKET nothing is loaded and every call does nothing. */
export async function openServiceManager(env: Env, pid: number): Promise<ServiceManager> {
  const send = env.NOTIFY_SOCKET ? await senderTo(env.NOTIFY_SOCKET) : () => undefined;
  return {
    ready: () => send('READY=1'),
    // A line end would begin another assignment.
    status: (text) => send(`STATUS=${text.replaceAll(/[\r\n]/g, ' ')}`),
    stopping: () => send('STOPPING=1'),
    watchdog: () => send('WATCHDOG=1'),
    watchdogIntervalMs: watchdogIntervalOf(env, pid),
  };
}

/** The environment for children: what a service manager says to its own process is not for them. */
export function withoutManager({ NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, ...env }: Env): Env {
  return env;
}

function watchdogIntervalOf(env: Env, pid: number): number | null {
  const micros = Number(env.WATCHDOG_USEC);
  if (!env.NOTIFY_SOCKET || !(micros > 0) || !Number.isFinite(micros)) return null;
  if (env.WATCHDOG_PID && Number(env.WATCHDOG_PID) !== pid) return null;
  // Half of it, as sd_watchdog_enabled(3) asks for.
  return Math.max(1, Math.floor(micros / 2_000));
}

const AF_UNIX = 1;
/** Of Linux, as service managers that speak this are. */
const [SOCK_DGRAM, SOCK_CLOEXEC, MSG_DONTWAIT, MSG_NOSIGNAL] = [2, 0o2000000, 0x40, 0x4000];
/** sockaddr_un holds 108 bytes of path, its final NUL included. */
const MAX_PATH_BYTES = 107;

async function senderTo(socketPath: string): Promise<(text: string) => void> {
  const path = Buffer.from(socketPath);
  // A vsock address, or a path no socket can have.
  if (process.platform !== 'linux' || !/^[/@]/.test(socketPath) || path.length > MAX_PATH_BYTES)
    return () => undefined;
  const address = addressOf(path);
  const { default: koffi } = await import('koffi');
  const libc = koffi.load(null);
  const socket = libc.func('int socket(int domain, int type, int protocol)');
  const close = libc.func('int close(int fd)');
  const sendto = libc.func(
    'intptr_t sendto(int fd, const void *data, size_t size, int flags, const void *address, uint32_t length)',
  );
  return (text) => {
    const fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    const data = Buffer.from(text);
    sendto(fd, data, data.length, MSG_DONTWAIT | MSG_NOSIGNAL, address, address.length);
    close(fd);
  };
}

/** sockaddr_un. An abstract name is written with an `@` for the NUL that it begins with, and ends with its length. */
function addressOf(path: Buffer): Buffer {
  const family = Buffer.from(new Uint8Array(Uint16Array.of(AF_UNIX).buffer));
  if (path[0] !== 0x40) return Buffer.concat([family, path, Buffer.of(0)]);
  return Buffer.concat([family, Buffer.of(0), path.subarray(1)]);
}
