/** The programs that a store works with: its supervisor, the index, `li`, the notifier. */
import { lookAtSupervisor } from '../daemon/look-at-supervisor.ts';
import { isFile } from '../file-kind.ts';
import { openIndexReader, type WhyUnused } from '../index/read-index.ts';
import { liCommandOf } from '../li-command.ts';
import { notifierEnvironment } from '../notify/environment/choose.ts';
import { differenceOf } from '../notify/environment/difference.ts';
import { resolveNotifier } from '../notify/notifier.ts';
import { locateProgram } from '../process/startable.ts';
import { IMPLEMENTATION_VERSION } from '../version.ts';
import { type Finding, fault, good, note, type Place } from './finding.ts';

/** What the supervisor does without is a finding each. */
export async function supervisor({ engine }: Place): Promise<Finding[]> {
  const { instance, condition } = await lookAtSupervisor(engine);
  const amiss = condition.degraded.map(({ code, cause, cure }) =>
    code === 'supervisor_not_running'
      ? note('supervisor', cause, cure)
      : fault('supervisor', `${code}: ${cause}`, cure),
  );
  if (amiss.length > 0 || !instance.running) return amiss;
  return [good('supervisor', `liond ${IMPLEMENTATION_VERSION} is ${condition.state} (pid ${instance.pid})`)];
}

const DAMAGED: readonly WhyUnused[] = ['corrupt', 'readonly', 'full', 'unknown'];

export async function index({ engine }: Place): Promise<Finding> {
  const opened = await openIndexReader(engine);
  if (typeof opened !== 'string') {
    const found = opened.hasAllNames ? 'whole, and it has every run' : 'whole; names have come since';
    opened.close();
    return good('index', found);
  }
  if (opened === 'no_index') return note('index', 'there is none: lists scan', 'it is made by a supervisor');
  if (opened === 'switched_off') return note('index', 'liond.yaml has index: false: lists scan', null);
  if (opened === 'no_library') {
    return fault(
      'index',
      'better-sqlite3 cannot be loaded: lists scan',
      'install again with the Node in use',
    );
  }
  const cure = `a supervisor sets it right; or remove ${engine.home.stateDir}/index.sqlite3*`;
  const found = `not used (${opened}): lists scan`;
  return DAMAGED.includes(opened) ? fault('index', found, cure) : note('index', found, cure);
}

export function li({ engine }: Place): Finding {
  const [program] = liCommandOf(engine.env);
  if (program !== undefined && locateProgram(program, engine.cwd, engine.env.PATH).some(isFile)) {
    return good('li', `${program} is there`);
  }
  return note(
    'li',
    `${program ?? 'li'} is not to be found: ends that only the engine knows of stay indeterminate`,
    'put it on PATH, or set LIONAGI_MCP_LI_BIN to where it is',
  );
}

/** Where notices are really sent from, which need not be this shell. */
export async function notifier({ engine }: Place): Promise<Finding> {
  const chosen = await notifierEnvironment(engine);
  const there = { ...engine, env: chosen.env };
  const found = await resolveNotifier(there, 'doctor', new Map());
  const where = `in ${chosen.words}`;
  if (found.kind === 'none') return note('notifier', `none is configured ${where}`, 'see docs/operations.md');
  if (found.kind === 'unusable') {
    return fault('notifier', `${found.reason} (${found.source}) ${where}`, 'lion notify test');
  }
  const [program = ''] = found.template;
  const isThere = locateProgram(program, found.cwd, chosen.env.PATH).some(isFile);
  if (!isThere) {
    return fault('notifier', `${program} (${found.source}) is not to be found ${where}`, 'lion notify test');
  }
  const { onlyInShell, different } = differenceOf(engine.env, chosen.env);
  const differs = onlyInShell.length + different.length;
  const words = `${program} (${found.source}) is there ${where}`;
  if (differs === 0) return good('notifier', words);
  return note(
    'notifier',
    `${words}; ${differs} variables differ from this shell's`,
    'lion notify test tells which',
  );
}
