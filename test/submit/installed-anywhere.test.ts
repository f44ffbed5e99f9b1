import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { installInto } from '../support/install.ts';
import { PYTHON, runPython } from '../support/python.ts';
import { inShell } from '../support/shell.ts';
import { ended, runOf, type SubmittedRun } from '../support/submitted.ts';
import { makeWitness } from '../support/witness.ts';
import type { World } from '../support/world.ts';

/** A place whose name a shell, or whoever splits words as one, would take apart. */
const ODD_PLACE = `it's a "place" $(touch pwned); #1 caf\u00e9`;

describe.concurrent('ADR-0106 D5: a run calls the lion that started it, wherever that is installed', () => {
  it('a command reports its end there', async () => {
    await inWorld(async (world) => {
      const run = await submitFrom(world, 'lion job submit --machine -- sh -c "exit 4"');
      expect(await ended(run)).toMatchObject({ exit_code: 4, terminal_source: 'cli_terminal_hook' });
    });
  });

  it('an li is given it as one text, which splits into its words again', async () => {
    await inWorld(async (world) => {
      const witness = makeWitness(world, 'li', HOOK_AS_LI_DOES);
      world.env.LIONAGI_MCP_LI_BIN = `${PYTHON} -S ${witness.file}`;
      const run = await submitFrom(world, 'lion agent --detach --no-mcp --machine -- -a reviewer');
      const [verb, option, text = '', ...rest] = (await witness.of(run.runId)).argv;
      expect([verb, option, rest]).toEqual(['agent', '--notify', ['-a', 'reviewer']]);
      const words = JSON.parse(await runPython(SPLIT, { args: [text] }));
      const main = join(world.root, ODD_PLACE, 'dist', 'cli', 'main.js');
      const hook = ['hook', 'terminal', '--run-id', run.runId, '--status', '{status}'];
      expect(words).toEqual([process.execPath, main, ...hook]);
      expect(await ended(run)).toMatchObject({ status: 'timed_out', terminal_source: 'cli_terminal_hook' });
    });
  });
});

async function submitFrom(world: World, line: string): Promise<SubmittedRun> {
  const { lion } = installInto(world, ODD_PLACE);
  writeFileSync(join(world.cwd, 'only-this'), '');
  const { stdout, stderr } = await inShell(world, `${line} && [ "$(ls)" = only-this ]`, [], lion);
  expect(stderr).toBe('');
  return runOf(world, JSON.parse(stdout.toString('utf8')).data);
}

const SPLIT = 'import json, shlex, sys; print(json.dumps(shlex.split(sys.argv[1])))';

const HOOK_AS_LI_DOES = `
import shlex, subprocess
hook = [word.replace("{status}", "timed_out") for word in shlex.split(sys.argv[3])]
sys.exit(subprocess.run(hook).returncode)`;
