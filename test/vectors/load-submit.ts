import { readFileSync } from 'node:fs';
import { parseJson } from '../support/json-tree.ts';
import { dataFile, objectIn, textIn, type Vector } from './load.ts';

/** A recorded submission: the situation of a vector, and the words after `submit`. */
export interface Submission extends Vector {
  words: string[];
}

export function loadSubmissions(): Submission[] {
  const vectors = parseJson(readFileSync(dataFile('submit.json'), 'utf8'));
  if (!Array.isArray(vectors)) throw new Error('submit.json is not an array');
  return vectors.map((value) => {
    const vector = objectIn(value);
    const [mode, process] = [textIn(vector.get('mode')), textIn(objectIn(vector.get('process')).get('kind'))];
    if (mode !== 'submit' || process !== 'none_ever')
      throw new Error(`not a submission: ${mode}, with the process ${process}`);
    const words = vector.get('submit');
    if (!Array.isArray(words)) throw new Error('a submission without its words');
    return {
      id: textIn(vector.get('id')),
      title: textIn(vector.get('title')),
      kind: textIn(vector.get('kind')),
      runId: textIn(vector.get('run_id')),
      ...{ record: null, raw: null, rawHex: null, otherRecords: new Map(), jobsDirPresent: false },
      ...{ asUid: null, maskStat: false, seconds: null, calls: [], mode: 'sequence' },
      process: { kind: process, mark: 'none' },
      lifecycle: vector.get('lifecycle') ?? null,
      files: objectIn(vector.get('files')),
      env: new Map([...objectIn(vector.get('env'))].map(([key, text]) => [key, textIn(text)])),
      words: words.map(textIn),
      expect: objectIn(vector.get('expect')),
    };
  });
}
