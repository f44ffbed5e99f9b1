import { dirname } from 'node:path';
import { CONTRACT_VERSION, MIN_SUPPORTED_VERSION } from '../shared/contract/envelope.ts';
import { IMPLEMENTATION_VERSION } from '../shared/version.ts';
import type { Answer, Call } from './verb.ts';

/** `lion handshake` (ADR-0106 D2): needs no store. */
export function handshake(call: Call): Answer {
  const data = {
    contract_version: CONTRACT_VERSION,
    min_supported_version: MIN_SUPPORTED_VERSION,
    implementation: 'liond',
    implementation_version: IMPLEMENTATION_VERSION,
    module: dirname(call.program.main),
  };
  return {
    data,
    human: () =>
      `lion ${IMPLEMENTATION_VERSION}, machine contract ${CONTRACT_VERSION} (oldest spoken: ${MIN_SUPPORTED_VERSION})\n`,
  };
}
