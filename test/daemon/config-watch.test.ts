import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigWatch } from '../../daemon/config-watch.ts';
import { Degradations } from '../../daemon/degradations.ts';
import type { Event } from '../../daemon/journal.ts';
import { DEFAULT_CONFIG } from '../../shared/config-defaults.ts';
import { openEngine } from '../../shared/engine.ts';
import { inWorld } from '../support/in-world.ts';
import { askData } from '../support/machine.ts';
import { layEnded, noticeOf, runIdOf, secondsAgo } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

interface Watched {
  readonly watch: ConfigWatch;
  readonly events: Event[];
  readonly degradations: Degradations;
  write(text: string): void;
  remove(): void;
}

async function watchIn(world: World, text: string | null): Promise<Watched> {
  const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
  const path = engine.home.configFile;
  mkdirSync(dirname(path), { recursive: true });
  const write = (next: string): void => {
    writeFileSync(`${path}.new`, next);
    renameSync(`${path}.new`, path);
  };
  if (text !== null) write(text);
  const opened = await openEngine(world.env, world.cwd, new AbortController().signal);
  const events: Event[] = [];
  const degradations = new Degradations((event) => events.push(event));
  const watch = new ConfigWatch(opened.engine, (event) => events.push(event), degradations);
  return { watch, events, degradations, write, remove: () => rmSync(path) };
}

describe('liond.yaml is read again when it has changed', () => {
  it('and not when it has not', async () => {
    await inWorld(async (world) => {
      const { watch, events } = await watchIn(world, 'watch: false\n');
      expect([await watch.refresh(), events]).toEqual([false, []]);
      expect(watch.engine.config.watch).toBe(false);
    });
  });

  it('comes to whoever holds the engine, and is said', async () => {
    await inWorld(async (world) => {
      const { watch, events, write } = await watchIn(world, null);
      const { engine } = watch;
      write('usage_interval_seconds: 5\n');
      expect(await watch.refresh()).toBe(true);
      expect(engine.config).toEqual({ ...DEFAULT_CONFIG, usageIntervalMs: 5_000 });
      write('usage_interval_seconds: 6\n');
      expect(await watch.refresh()).toBe(true);
      expect([engine.config.usageIntervalMs, await watch.refresh()]).toEqual([6_000, false]);
      expect(events).toEqual([{ event: 'config_reloaded' }, { event: 'config_reloaded' }]);
    });
  });

  it('taken away it is the defaults', async () => {
    await inWorld(async (world) => {
      const { watch, remove } = await watchIn(world, 'index: false\n');
      expect(watch.engine.config.index).toBe(false);
      remove();
      expect([await watch.refresh(), watch.engine.config]).toEqual([true, DEFAULT_CONFIG]);
    });
  });

  it.each([
    ['of another type', 'index: maybe\n'],
    ['no YAML', 'index: [\n'],
    ['an alias of nothing', 'index: *there\n'],
  ])('%s: the last good one stands, degraded until it is mended, said once', async (_what, text) => {
    await inWorld(async (world) => {
      const { watch, events, degradations, write } = await watchIn(world, 'index: false\n');
      write(text);
      for (let n = 0; n < 3; n++) expect(await watch.refresh()).toBe(false);
      expect(watch.engine.config.index).toBe(false);
      expect(degradations.list()).toMatchObject([
        {
          code: 'config_invalid',
          cause: expect.stringContaining('liond.yaml'),
          cure: expect.stringContaining('mend'),
        },
      ]);
      expect(events).toHaveLength(1);
      write('index: true\n');
      expect([await watch.refresh(), watch.engine.config.index, degradations.list()]).toEqual([
        true,
        true,
        [],
      ]);
      expect(events.slice(1)).toEqual([
        { event: 'recovered', code: 'config_invalid' },
        { event: 'config_reloaded' },
      ]);
    });
  });
});

describe('the running supervisor', () => {
  it('goes by the new configuration without a restart, and by the last good one under a wrong one', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const lay = (n: number) =>
        layEnded(world, runIdOf(n), 'failed', {
          finished_at: secondsAgo(90),
          notify_command: notifier.command,
          notify_delivery: new Map<string, boolean>([
            ['attempted', false],
            ['owed', true],
          ]),
        });
      const { write } = await watchIn(world, null);
      const supervisor = await startSupervisor(world);
      write('notify: {skip_outcomes: [failed]}\n');
      await waitUntil('it to be read', () => supervisorEvents(world, 'config_reloaded').length === 1);
      const first = lay(1);
      await waitUntil('the rule to be kept', () => noticeOf(first).skipped === 'by_rule');
      write('notify: {skip_outcomes: *nothing}\n');
      const degraded = async (): Promise<{ code: string }[]> =>
        (await askData(world, ['daemon', 'status'])).degraded;
      await waitUntil('it to be refused', async () =>
        (await degraded()).some(({ code }) => code === 'config_invalid'),
      );
      const second = lay(2);
      await waitUntil('the rule to be kept still', () => noticeOf(second).skipped === 'by_rule');
      write('watch: true\n');
      await waitUntil('it to be read', () => supervisorEvents(world, 'config_reloaded').length === 2);
      const third = lay(3);
      await waitUntil('the notice', () => noticeOf(third).ok === true);
      expect([notifier.calls().length, supervisor.isRunning()]).toEqual([1, true]);
    });
  });
});
