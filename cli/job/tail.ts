import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { errnoOf, hasCode } from '../../shared/errno.ts';
import { lastCharsOf } from '../../shared/output/last-chars.ts';

/** What there is to show of a log since the last look. */
export interface Piece {
  /** Line ends are `\n`; a character cut by the end of the file waits for its rest. */
  readonly text: string;
  /** What happened to the file, in words, before this text. */
  readonly note: string | null;
}

interface OpenFile {
  readonly fd: number;
  readonly identity: string;
}

const PIECE_BYTES = 1024 * 1024;
/** No code point takes more bytes. */
const MAX_BYTES_PER_CHAR = 4;
const NOTHING: Piece = { text: '', note: null };

/**
 * A log as it grows. It may not be there yet, be cut, or be replaced by another file under its name; one that was
 * moved away is read on until there is another, since its writer still has it open.
 */
export class Tail {
  readonly #path: string;
  #file: OpenFile | null = null;
  #decoder = new StringDecoder('utf8');
  #at = 0;
  #heldReturn = false;
  #fault: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** The end of what is there already, so many characters of it; true where there is more before it. */
  begin(lastChars: number): { readonly text: string; readonly cut: boolean } {
    const opened = tryOpen(this.#path);
    if (typeof opened === 'string') return { text: '', cut: false };
    this.#file = opened;
    const window = (lastChars + 1) * MAX_BYTES_PER_CHAR;
    const { size } = fstatSync(opened.fd);
    const start = Math.max(0, size - window);
    this.#at = start;
    let text = '';
    while (this.#at < size) {
      const piece = this.#grown(opened);
      if (piece === '' && this.#at < size) break;
      text += piece;
    }
    const last = lastCharsOf(text, lastChars);
    return { text: last.text, cut: start > 0 || last.cut };
  }

  /** The next piece; one without text and note: there is no more for now. */
  next(): Piece {
    if (this.#file === null) {
      const opened = tryOpen(this.#path);
      if (typeof opened === 'string') return this.#notOpen(opened);
      this.#file = opened;
      this.#fault = null;
    }
    const grown = this.#grown(this.#file);
    if (grown !== '') return { text: grown, note: null };
    if (fstatSync(this.#file.fd).size < this.#at) {
      this.#fromStart();
      return { text: '', note: 'its log was cut; from its start now' };
    }
    return this.#followName(this.#file);
  }

  /** What was held back for its rest, which will not come. */
  rest(): string {
    const text = this.#lines(this.#decoder.end());
    const held = this.#heldReturn ? '\n' : '';
    this.#heldReturn = false;
    return text + held;
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file.fd);
    this.#file = null;
  }

  #grown({ fd }: OpenFile): string {
    const bytes = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(0, fstatSync(fd).size - this.#at)));
    if (bytes.length === 0) return '';
    const got = readSync(fd, bytes, 0, bytes.length, this.#at);
    this.#at += got;
    return this.#lines(this.#decoder.write(bytes.subarray(0, got)));
  }

  /** As `job output` has them; a return at the end may be half of a line end. */
  #lines(text: string): string {
    if (text === '') return '';
    const whole = (this.#heldReturn ? '\r' : '') + text;
    this.#heldReturn = whole.endsWith('\r');
    return (this.#heldReturn ? whole.slice(0, -1) : whole).replace(/\r\n?/g, '\n');
  }

  #followName(file: OpenFile): Piece {
    const found = identityAt(this.#path);
    if (found === null || found === file.identity) return NOTHING;
    const opened = tryOpen(this.#path);
    if (typeof opened === 'string') return NOTHING;
    const text = this.rest();
    this.close();
    this.#file = opened;
    this.#fromStart();
    return { text, note: 'its log was replaced; from the new one now' };
  }

  #fromStart(): void {
    this.#at = 0;
    this.#decoder = new StringDecoder('utf8');
    this.#heldReturn = false;
  }

  /** Said once, and again only when it is another fault. */
  #notOpen(fault: string): Piece {
    if (fault === this.#fault || fault === 'ENOENT') return NOTHING;
    this.#fault = fault;
    return { text: '', note: `its log cannot be read: ${fault}` };
  }
}

function tryOpen(path: string): OpenFile | string {
  try {
    // A pipe would hold the opening up, and a device could be anything.
    if (path.includes('\0') || !statSync(path).isFile()) return 'it is not a regular file';
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { fd, identity: identityOf(fstatSync(fd)) };
  } catch (error) {
    const code = errnoOf(error);
    if (code === null) throw error;
    return code;
  }
}

function identityAt(path: string): string | null {
  try {
    return identityOf(statSync(path));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    if (errnoOf(error) === null) throw error;
    return null;
  }
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
