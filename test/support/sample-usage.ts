/** Prints the samples of the runs it is told, as JSON: it is run as another user, who is not told all. */
import { UsageKeeper } from '../../daemon/usage/usage-keeper.ts';

const runs = JSON.parse(process.argv[2] ?? '[]');
const samples = await new UsageKeeper().sample(runs, new AbortController().signal);
process.stdout.write(JSON.stringify(samples));
