import { replayGroup } from './replay-group.ts';

replayGroup('terminal');
