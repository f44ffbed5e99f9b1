import type { LaidOut } from './lay-out.ts';

/** Runs a replay in a laid-out world and takes the world away; a process left behind is a problem found. */
export async function withWorld(
  laying: Promise<LaidOut>,
  replay: (laid: LaidOut) => Promise<string[]>,
): Promise<string[]> {
  const laid = await laying;
  let problems: string[] = [];
  try {
    problems = await replay(laid);
  } finally {
    const left = await laid.world.dispose();
    problems.push(...left.map(({ pid, command }) => `a process was left behind: ${pid} ${command}`));
  }
  return problems;
}
