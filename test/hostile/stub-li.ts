import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from '../support/world.ts';

export interface StubLi {
  /** Of a call that is to find it. */
  env: Record<string, string>;
  /** The runs it was asked about, in order. */
  asked: () => string[];
  forget: () => void;
}

const SILENT = '{"ok": true, "data": {"lifecycle": {"available": false, "value": null}}}';

/** A lifecycle store that any user may ask; unless told it knows nothing of any run. */
export function makeStubLi(world: World, answer: string = SILENT): StubLi {
  const [script, log] = [join(world.bin, 'stub-li'), join(world.work, 'li.log')];
  writeFileSync(script, `#!/bin/sh\nprintf '%s\\n' "$2" >> '${log}'\nprintf '%s\\n' '${answer}'\n`);
  chmodSync(script, 0o755);
  const forget = () => {
    writeFileSync(log, '');
    chmodSync(log, 0o666);
  };
  forget();
  return {
    env: { ...world.env, LIONAGI_MCP_LI_BIN: script },
    asked: () => readFileSync(log, 'utf8').split('\n').filter(Boolean),
    forget,
  };
}
