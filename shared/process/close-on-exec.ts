import { readdirSync } from 'node:fs';
import koffi from 'koffi';

const fcntl = koffi.load(null).func('int fcntl(int fd, int command, ...)');
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const FIRST_OWN_FD = 3;

/**
 * Descriptors that came to us from our caller (its locks, its pipes) end with us and do not pass on to a run,
 * which would hold them for as long as it lives. Node marks its own; this marks the rest.
 */
export function keepDescriptorsFromChildren(): void {
  for (const name of readdirSync('/dev/fd')) {
    const fd = Number(name);
    // A number listed may be the listing's own, closed by now: the call then changes nothing.
    if (fd >= FIRST_OWN_FD) fcntl(fd, F_SETFD, 'int', FD_CLOEXEC);
  }
}
