import { parse, YAMLParseError } from 'yaml';
import * as z from 'zod/mini';
import { withoutTracing } from './yaml-tracing.ts';

/** `liond.yaml`, which both binaries read. */
export interface Config {
  /**
   * This store is used from one pid namespace on one host, so records without `origin` may be judged from
   * inside it (a container), and so may those of earlier namespaces of this boot.
   */
  readonly judgeUnownedRecords: boolean;
}

const SCHEMA = z.strictObject({ judge_unowned_records: z.optional(z.boolean()) });

/** The configuration in a text, or what is wrong with it, naming the key and what it takes. */
export function parseConfig(text: string): Config | string {
  let document: unknown;
  try {
    document = withoutTracing(() => parse(text)) ?? {};
  } catch (error) {
    if (error instanceof YAMLParseError) return error.message;
    throw error;
  }
  const checked = SCHEMA.safeParse(document);
  if (checked.success) return { judgeUnownedRecords: checked.data.judge_unowned_records ?? false };
  return `${checked.error.issues.map(faultOf).join('; ')}; it takes judge_unowned_records: true or false`;
}

function faultOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown key ${issue.keys.join(', ')}`;
  return issue.path.length === 0 ? 'it is not a mapping' : `${issue.path.join('.')} has a wrong value`;
}
