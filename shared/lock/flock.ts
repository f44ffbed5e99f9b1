import koffi from 'koffi';

/**
 * flock(2) itself: fcntl and OFD locks do not exclude Python's `fcntl.flock` (measured; docs/decisions).
 * This module is the only one that loads the native binding; import it only where a lock is taken.
 */
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
const flock = koffi.load(null).func('int flock(int fd, int operation)');

export type FlockAttempt = 'taken' | 'busy' | { readonly failed: string };

/** Tries once, never blocks: a blocked flock would hold one of the runtime's four file threads. */
export function tryExclusive(fd: number): FlockAttempt {
  return attempt(fd, LOCK_EX);
}

/** For who only looks whether it is held: those who look never meet each other, only its holder. */
export function tryShared(fd: number): FlockAttempt {
  return attempt(fd, LOCK_SH);
}

function attempt(fd: number, operation: number): FlockAttempt {
  if (flock(fd, operation | LOCK_NB) === 0) return 'taken';
  const errno = koffi.errno();
  if (errno === koffi.os.errno.EWOULDBLOCK || errno === koffi.os.errno.EAGAIN) return 'busy';
  if (errno === koffi.os.errno.EINTR) return 'busy';
  return { failed: nameOf(errno) };
}

function nameOf(errno: number): string {
  return Object.entries(koffi.os.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`;
}
