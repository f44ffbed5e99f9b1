import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { errnoOf } from '../../shared/errno.ts';

const MAX_READ_BYTES = 1024 * 1024;

/**
 * Whole lines of a log, first those of its end (of the last MAX_READ_BYTES), then those that are added, also when
 * its path leads to a new file or was cut short.
 */
export class LogTail {
  #fd: number | null = null;
  #at = 0;
  #decoder = new StringDecoder('utf8');
  #begun = '';
  /** What comes next may be the rest of a line, which is left out. */
  #inLine = false;

  constructor(readonly path: string) {
    this.#open();
    if (this.#fd === null) return;
    this.#at = Math.max(0, fstatSync(this.#fd).size - MAX_READ_BYTES);
    this.#inLine = this.#at > 0;
  }

  newLines(): string[] {
    const lines = this.#read();
    if (lines.length > 0 || !this.#wasReplaced()) return lines;
    this.close();
    this.#open();
    return this.#read();
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #open(): void {
    try {
      this.#fd = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (errnoOf(error) === null) throw error;
    }
    this.#at = 0;
    this.#decoder = new StringDecoder('utf8');
    this.#begun = '';
  }

  #read(): string[] {
    if (this.#fd === null) return [];
    const { size } = fstatSync(this.#fd);
    if (size < this.#at) this.#at = 0;
    const bytes = Buffer.alloc(Math.min(size - this.#at, MAX_READ_BYTES));
    const got = readSync(this.#fd, bytes, 0, bytes.length, this.#at);
    this.#at += got;
    const lines = (this.#begun + this.#decoder.write(bytes.subarray(0, got))).split('\n');
    this.#begun = lines.pop() ?? '';
    if (this.#inLine && lines.shift() !== undefined) this.#inLine = false;
    return lines;
  }

  #wasReplaced(): boolean {
    if (this.#fd === null) return true;
    const named = statSync(this.path, { throwIfNoEntry: false });
    const held = fstatSync(this.#fd);
    return named !== undefined && (named.ino !== held.ino || named.dev !== held.dev);
  }
}
