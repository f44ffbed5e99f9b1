import { examine } from '../shared/doctor/examine.ts';
import type { Answer, Call } from './verb.ts';

/** `lion doctor`: does this place have what runs, notices and lists need? Without `--machine`: 1 where there is a fault. */
export async function doctor(call: Call): Promise<Answer> {
  const findings = await examine(await call.open());
  const hasFault = findings.some(({ state }) => state === 'fault');
  return {
    data: { healthy: !hasFault, findings: findings.map((finding) => ({ ...finding })) },
    human: async (screen) => (await import('./render/findings.ts')).renderFindings(screen, findings),
    exitCode: hasFault ? 1 : 0,
  };
}
