import type { JsonObject } from '../json/value.ts';
import { derive } from '../run/derive.ts';
import type { NotifyPolicy } from './policy.ts';

/** Does the configuration say that an end like this one is not announced? */
export function isSkippedByRule(record: JsonObject, policy: NotifyPolicy): boolean {
  if (policy.skipOwnKills && record.get('terminal_source') === 'mcp_kill') return true;
  const { outcome } = derive(record, false);
  return outcome !== null && policy.skipOutcomes.includes(outcome);
}
