import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LionError } from '../../shared/contract/errors.ts';
import { EnvironmentFault } from '../../shared/environment-fault.ts';
import { errnoOf } from '../../shared/errno.ts';
import { isFile } from '../../shared/file-kind.ts';
import { printable } from '../../shared/printable.ts';
import type { Home } from '../../shared/store/home.ts';
import type { Call } from '../verb.ts';
import { choosePath, isThrowaway, nodeCandidates, scriptCandidates, servicePath } from './paths.ts';
import type { ServiceValues } from './unit.ts';

/** What a definition made now would hold, and what a person should know about it. */
export interface Captured {
  readonly values: ServiceValues;
  readonly notes: readonly string[];
}

/**
 * @throws LionError `invalid_input` for a path no definition can hold, `unavailable` from a throw-away place.
 * @throws EnvironmentFault where this installation lacks the supervisor.
 */
export function captureValues(call: Call, home: Home): Captured {
  const real = join(dirname(call.program.main), '..', 'daemon', 'main.js');
  if (!isFile(real)) throw new EnvironmentFault(`${real} is missing`);
  if (isThrowaway(real))
    throw new LionError(
      'unavailable',
      `${real} is in the cache of npx, which is cleaned away; install it first: npm install --global liond`,
    );
  const { PATH } = call.env;
  const node = choosePath(
    call.program.node,
    nodeCandidates(call.program.node, PATH, home.userDir),
    (path) => realPathOf(path) === realPathOf(call.program.node),
  );
  const script = choosePath(
    real,
    scriptCandidates(real, PATH),
    (path) => realPathOf(path) === realPathOf(real),
  );
  const env = {
    HOME: home.userDir,
    PATH: servicePath(PATH, node.path),
    ...(call.env.LIONAGI_HOME ? { LIONAGI_HOME: home.root } : {}),
  };
  const values = { node: node.path, script: script.path, env };
  refuseUnprintable(values);
  return { values, notes: [...placeNotes([node, script]), ...environmentNotes(call.env)] };
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}

/** A line end in a definition would begin another setting. */
function refuseUnprintable({ node, script, env }: ServiceValues): void {
  for (const [what, text] of Object.entries({ node, script, ...env }))
    if (/[\p{Cc}\ufffd]/u.test(text))
      throw new LionError(
        'invalid_input',
        `${what} holds a character that no service definition can: ${printable(text)}`,
      );
}

function placeNotes(chosen: readonly { path: string; lasting: boolean }[]): string[] {
  return chosen
    .filter(({ lasting }) => !lasting)
    .map(
      ({ path }) =>
        `${path} names a version or a temporary place: after an upgrade that removes it, run lion daemon install again`,
    );
}

function environmentNotes(env: Call['env']): string[] {
  const left = Object.keys(env)
    .filter((name) => name.startsWith('LIONAGI_MCP_') && env[name])
    .sort();
  return left.length === 0
    ? []
    : [
        `set in this shell and not in the service: ${left.join(', ')}; lion notify test shows what that means`,
      ];
}
