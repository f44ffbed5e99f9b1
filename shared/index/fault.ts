import { errnoOf } from '../errno.ts';

export type IndexFaultCode = 'corrupt' | 'busy' | 'full' | 'readonly' | 'unknown';

/** The one error that leaves the index. `detail` is the library's or system's own name for it. */
export class IndexFault extends Error {
  override readonly name = 'IndexFault';
  readonly detail: string;

  constructor(
    readonly code: IndexFaultCode,
    cause: unknown,
  ) {
    const detail = errnoOf(cause) ?? (cause instanceof Error ? cause.message : String(cause));
    super(`the index cannot be used: ${code} (${detail})`, { cause });
    this.detail = detail;
  }

  static from(error: unknown): IndexFault {
    return error instanceof IndexFault ? error : new IndexFault(codeOf(errnoOf(error)), error);
  }
}

/** @throws {IndexFault} whatever the work throws. */
export function faultsOnly<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw IndexFault.from(error);
  }
}

/** The first that fits, so the exceptions of a family come before it. */
const CODES: readonly [RegExp, IndexFaultCode][] = [
  // The table of contents of the log is the one file SQLite enlarges without calling the disk full.
  [/^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)$/, 'full'],
  [/^(SQLITE_CORRUPT|SQLITE_NOTADB|SQLITE_IOERR_CORRUPTFS)/, 'corrupt'],
  // A table or column that was there when the file was opened.
  [/^SQLITE_ERROR$/, 'corrupt'],
  [/^SQLITE_(BUSY|LOCKED|IOERR_LOCK|IOERR_RDLOCK)/, 'busy'],
  [/^(SQLITE_READONLY|SQLITE_PERM|SQLITE_CANTOPEN|SQLITE_IOERR_ACCESS|EACCES|EPERM|EROFS)/, 'readonly'],
];

function codeOf(code: string | null): IndexFaultCode {
  return CODES.find(([pattern]) => pattern.test(code ?? ''))?.[1] ?? 'unknown';
}
