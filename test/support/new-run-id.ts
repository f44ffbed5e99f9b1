import { randomBytes } from 'node:crypto';

/** An id that no other run has, of this test or of one beside it: marks are seen all over the machine. */
export function newRunId(): string {
  return `20260801T120000-${randomBytes(3).toString('hex')}`;
}

/** Such ids by number; a later one is newer. */
export function newRunIds(): (n: number) => string {
  const random = randomBytes(3).toString('hex');
  return (n) =>
    `${new Date(Date.UTC(2026, 7, 1, 12, 0, n)).toISOString().replace(/[-:]/g, '').slice(0, 15)}-${random}`;
}
