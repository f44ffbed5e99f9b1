import { makeWorld, type World, type WorldOptions } from './world.ts';

/** Does the work in a world of its own and takes the world away; a process left behind fails the test. */
export async function inWorld<T>(work: (world: World) => Promise<T>, options: WorldOptions = {}): Promise<T> {
  const world = await makeWorld(options);
  let done: T;
  try {
    done = await work(world);
  } catch (error) {
    await world.dispose();
    throw error;
  }
  const left = await world.dispose();
  if (left.length > 0) throw new Error(`left behind: ${left.map((one) => one.command).join(', ')}`);
  return done;
}
