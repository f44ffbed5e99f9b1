import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../shared/errno.ts';

const OPEN_FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/**
 * A file that lines are appended to, each on it before `write` returns. What cannot be written is dropped, not
 * kept: a full disk must not become a full memory. Opened with the first line, and anew whenever the path leads
 * to another file or to none.
 */
export class LogFile {
  #fd: number | null = null;
  /** A line of which only a part fitted ends the line after it too, unless it is ended first. */
  #broken = false;
  #fault: string | null = null;

  /** @param maxBytes a line that would go over it goes to a new file; the old one becomes `<path>.1`. */
  constructor(
    readonly path: string,
    readonly maxBytes: number,
  ) {}

  /** The system's name for why the last line is not in the file; null: it is. */
  get fault(): string | null {
    return this.#fault;
  }

  /** @param line with its line end. */
  write(line: string): void {
    this.#fault = this.#attempt(() => {
      const fd = this.#fd ?? this.#open();
      const bytes = Buffer.from(this.#broken ? `\n${line}` : line);
      const written = writeSync(this.#rotated(fd, bytes.length), bytes);
      this.#broken = written < bytes.length;
      if (this.#broken) writeSync(this.#fd ?? fd, bytes, written);
      this.#broken = false;
    });
  }

  /** Notices that the file was renamed or removed, so that the next line goes to the path again. */
  lookAtPath(): void {
    if (this.#fd !== null && !isSame(fstatSync(this.#fd), this.#named())) this.close();
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    this.#broken = false;
  }

  #open(): number {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    this.#fd = openSync(this.path, OPEN_FLAGS, 0o600);
    return this.#fd;
  }

  #rotated(fd: number, more: number): number {
    const { size } = fstatSync(fd);
    if (size === 0 || size + more <= this.maxBytes) return fd;
    this.lookAtPath();
    // Somebody else may have renamed it just now: the path then waits for a new one.
    if (this.#fd !== null) renameSync(this.path, `${this.path}.1`);
    this.close();
    return this.#open();
  }

  #named(): Stats | null {
    try {
      return statSync(this.path);
    } catch (error) {
      if (errnoOf(error) === null) throw error;
      return null;
    }
  }

  #attempt(work: () => void): string | null {
    try {
      work();
      return null;
    } catch (error) {
      const code = errnoOf(error);
      if (code === null) throw error;
      return code;
    }
  }
}

function isSame(held: Stats, named: Stats | null): boolean {
  return named !== null && named.ino === held.ino && named.dev === held.dev;
}
