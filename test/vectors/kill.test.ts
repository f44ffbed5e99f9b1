import { replayGroup } from './replay-group.ts';

replayGroup('kill');
