import { waitUntil } from '../support/wait-until.ts';
import { type Answer, askMachine } from './call.ts';
import type { LaidOut } from './lay-out.ts';

/** The engine's kill does not wait for what it signalled. */
const NO_GRACE = ['--grace', '0'];

export function askKill(laid: LaidOut, runId: string, args: readonly string[]): Promise<Answer> {
  return askMachine(laid, ['job', 'kill', runId, '--machine', ...NO_GRACE, ...args]);
}

/** Until everything that was started for the record has ended. */
export async function untilEnded({ process }: LaidOut): Promise<void> {
  await waitUntil('the processes to end', () => process?.fates().every((fate) => fate !== 'alive'));
}
