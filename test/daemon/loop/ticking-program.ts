/** Prints a line a tick, `gap` or `tick`, ten a second, until it is ended. A program of its own. */
import { tick } from '../../../daemon/loop/ticker.ts';

await tick(100, new AbortController().signal, async ({ afterGap }) => {
  process.stdout.write(`${afterGap ? 'gap' : 'tick'}\n`);
});
