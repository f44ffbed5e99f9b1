import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../errno.ts';

/** The only sleep. Ends early, without throwing, when the signal is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!hasCode(error, 'ABORT_ERR')) throw error;
  }
}
