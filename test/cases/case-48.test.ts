import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { waitUntil } from '../support/wait-until.ts';

const SUBMIT = ['job', 'submit', '--wait', '--machine', '--label', 'ten minutes'];

describe('case 48: a client that gives up first', () => {
  it('case 48: has the id before anything waits, and the run goes on when the caller is killed', async () => {
    await inWorld(async (world) => {
      const child = spawn(process.execPath, [LION_MAIN, ...SUBMIT, '--', 'sleep', '600'], {
        env: world.env,
        cwd: world.cwd,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      await waitUntil('the id', () => said.includes('\n'));
      const runId = /^run (\S+)\n$/.exec(said)?.[1] ?? '';
      child.kill('SIGKILL');
      await once(child, 'close');
      const { jobs } = await askData(world, ['job', 'list']);
      expect(jobs).toMatchObject([{ run_id: runId, label: 'ten minutes', terminal: false }]);
      expect(await askData(world, ['job', 'status', runId])).toMatchObject({ alive: true, terminal: false });
      await runLion(['job', 'kill', runId, '--force', '--grace', '0'], world);
    });
  });

  it('case 48: gets an answer that says it is still running when the wait is over, with the id in it', async () => {
    await inWorld(async (world) => {
      const data = await askData(world, [...SUBMIT, '--max-wait', '0.5', '--', 'sleep', '600']);
      expect(data).toMatchObject({ terminal: false, alive: true, label: 'ten minutes' });
      await runLion(['job', 'kill', data.run_id, '--force', '--grace', '0'], world);
    });
  });

  it.each([
    ['--max-wait', 'soon', '--wait'],
    ['--max-wait', '-1', '--wait'],
    ['--max-wait', '5', '--cwd=.'],
  ])('case 48: %s %s with %s is refused before anything starts', async (...options) => {
    await inWorld(async (world) => {
      const refused = await runLion(['job', 'submit', '--machine', ...options, '--', 'true'], world);
      expect(refused.envelope?.error?.kind).toBe('invalid_input');
      expect((await askData(world, ['job', 'list'])).jobs).toEqual([]);
    });
  });
});
