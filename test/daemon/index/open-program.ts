/** Opens the index of a state directory and says what came of it; run as a program of its own. */
import { openRunIndex } from '../../../daemon/index/open.ts';

const opened = await openRunIndex(process.argv[2] ?? '');
process.stdout.write(opened.state === 'unavailable' ? opened.why : opened.state);
