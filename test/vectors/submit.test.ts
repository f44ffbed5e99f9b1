import { replaySubmissions } from './replay-submit.ts';

replaySubmissions();
