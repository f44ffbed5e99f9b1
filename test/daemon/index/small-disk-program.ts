/** Lets the disk of an index fill up and have room again; run as a program of its own, where that disk is mounted. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { IndexKeeper, type RebuildReason } from '../../../daemon/index/index-keeper.ts';
import { hasCode } from '../../../shared/errno.ts';
import { rowsOf, unchanged } from './rows.ts';

export interface SeenOnSmallDisk {
  readonly whenFull: string | undefined;
  readonly rebuilds: readonly RebuildReason[];
  readonly isEarlierLookTaken: boolean;
  readonly isNextLookTaken: boolean;
  readonly runs: number | undefined;
  readonly whenFullFromStart: string | undefined;
  readonly afterThat: readonly RebuildReason[];
}

const disk = process.argv[2] ?? '';
const ballast = join(disk, 'ballast');
process.stdout.write(
  JSON.stringify({ ...(await fillsUp()), ...(await wasFull()) } satisfies SeenOnSmallDisk),
);

async function fillsUp() {
  const { keeper, rebuilds } = keep('filling');
  await keeper.check();
  const before = keeper.generation;
  fill();
  for (const row of rowsOf(2000)) keeper.put(row);
  const whenFull = keeper.trouble?.code;
  rmSync(ballast);
  await checkUntilSound(keeper);
  const isEarlierLookTaken = keeper.setReconciledRoot('early', before, 1);
  keeper.drop(keeper.known(null, 3000)?.map((one) => one.runId) ?? []);
  for (const row of rowsOf(100)) keeper.put(row);
  const isNextLookTaken = keeper.setReconciledRoot('again', keeper.generation, 1);
  const runs = keeper.known(null, 3000)?.length;
  await keeper.close();
  rmSync(join(disk, 'filling'), { recursive: true });
  return { whenFull, rebuilds, isEarlierLookTaken, isNextLookTaken, runs };
}

async function wasFull() {
  const { keeper, rebuilds } = keep('full');
  fill();
  await keeper.check();
  const whenFullFromStart = keeper.trouble?.code;
  rmSync(ballast);
  await checkUntilSound(keeper);
  await keeper.close();
  return { whenFullFromStart, afterThat: rebuilds };
}

function keep(name: string): { keeper: IndexKeeper; rebuilds: RebuildReason[] } {
  const rebuilds: RebuildReason[] = [];
  const onRebuildNeeded = (why: RebuildReason): void => void rebuilds.push(why);
  const owner = { signatureOf: unchanged, onRebuildNeeded, onChangedSince: () => undefined };
  return { keeper: new IndexKeeper(join(disk, name), owner), rebuilds };
}

async function checkUntilSound(keeper: IndexKeeper): Promise<void> {
  for (let checks = 0; checks < 200 && keeper.trouble !== null; checks++) await keeper.check();
}

function fill(): void {
  const handle = openSync(ballast, 'w');
  try {
    for (;;) writeSync(handle, Buffer.alloc(4096));
  } catch (error) {
    if (!hasCode(error, 'ENOSPC')) throw error;
  } finally {
    closeSync(handle);
  }
}
