import { opendirSync } from 'node:fs';

/** Read from the disk at once: a listing of a whole directory has no bound. */
const READ_AT_ONCE = 1_000;
/** Our types know of no names in bytes; the runtime does. */
const AS_BYTES = 'buffer' as BufferEncoding;
const SEPARATOR = Buffer.from('/');

/**
 * The paths of what is in a directory, read as they are asked for, in bytes: a name that is no UTF-8 would turn
 * into another on its way through a string, and not be found again. @throws the system's error.
 */
export function* entriesOf(directory: Buffer): Generator<Buffer, void> {
  const listing = opendirSync(directory, { encoding: AS_BYTES, bufferSize: READ_AT_ONCE });
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      yield Buffer.concat([directory, SEPARATOR, Buffer.from(entry.name)]);
    }
  } finally {
    listing.closeSync();
  }
}
