import { askData } from '../support/machine.ts';
import type { Layer } from '../support/namespaces.ts';
import type { World } from '../support/world.ts';

/** Every verb that classifies, the first of them twice. */
export async function lookAll(world: World, ids: readonly string[], through: Layer = []): Promise<void> {
  const ask = (...verb: string[]) => askData(world, ['job', ...verb], { through });
  await ask('list');
  await ask('wait', ...ids, '--max-wait', '0');
  for (const id of ids) await ask('output', id);
  await ask('list');
}
