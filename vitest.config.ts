import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests start real processes and wait on conditions; the bound is for a hang, not for speed.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most of them wait for something, so one more than the usual two cores keeps both busy.
    maxWorkers: 3,
    // On a shared machine a process may be held up for seconds; a fault fails every time.
    retry: process.env.CI ? 2 : 0,
  },
});
