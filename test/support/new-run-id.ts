import { randomBytes } from 'node:crypto';

/** An id that no other run has, of this test or of one beside it: marks are seen all over the machine. */
export function newRunId(): string {
  return `20260801T120000-${randomBytes(3).toString('hex')}`;
}
