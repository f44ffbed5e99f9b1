/**
 * `struct kinfo_proc` and the block KERN_PROCARGS2 answers, as 64-bit macOS lays them out (sys/proc.h,
 * sys/sysctl.h). Pure, so that the reading of bytes can be tested anywhere.
 */
export const KINFO_BYTES = 648;

const OFFSET = { startSeconds: 0, startMicros: 8, state: 36, pid: 40, realUid: 392 } as const;
const ZOMBIE = 5;

export interface KinfoProc {
  readonly pid: number;
  readonly realUid: number;
  readonly zombie: boolean;
  /** Epoch seconds, as psutil reads it. */
  readonly createTime: number;
}

/** Every whole structure in a kernel answer. */
export function parseKinfo(bytes: Buffer): KinfoProc[] {
  const count = Math.floor(bytes.length / KINFO_BYTES);
  return Array.from({ length: count }, (_, index) => parseOne(bytes.subarray(index * KINFO_BYTES)));
}

function parseOne(bytes: Buffer): KinfoProc {
  const seconds = Number(bytes.readBigInt64LE(OFFSET.startSeconds));
  return {
    pid: bytes.readInt32LE(OFFSET.pid),
    realUid: bytes.readUInt32LE(OFFSET.realUid),
    zombie: bytes.readInt8(OFFSET.state) === ZOMBIE,
    createTime: seconds + bytes.readInt32LE(OFFSET.startMicros) / 1_000_000,
  };
}

/** The environment entries in a KERN_PROCARGS2 block: argc, the path, padding, argc arguments, then these. */
export function parseEnvironment(block: Buffer): string[] {
  if (block.length < 4) return [];
  const argc = block.readInt32LE(0);
  let at = block.indexOf(0, 4);
  while (at !== -1 && at < block.length && block[at] === 0) at++;
  if (at === -1) return [];
  const strings = block.toString('latin1', at).split('\0');
  const environment = strings.slice(argc);
  const end = environment.indexOf('');
  return end === -1 ? environment : environment.slice(0, end);
}
