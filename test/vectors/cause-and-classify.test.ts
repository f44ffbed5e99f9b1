import { replayGroup } from './replay-group.ts';

replayGroup('cause');
replayGroup('classify');
