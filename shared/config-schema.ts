import { parse, YAMLParseError } from 'yaml';
import * as z from 'zod/mini';
import type { Config } from './config.ts';

const SCHEMA = z.strictObject({ judge_unowned_records: z.optional(z.boolean()) });

/** The configuration in a text, or what is wrong with it, naming the key and what it takes. */
export function parseConfig(text: string): Config | string {
  let document: unknown;
  try {
    document = parse(text) ?? {};
  } catch (error) {
    if (error instanceof YAMLParseError) return error.message;
    throw error;
  }
  const checked = SCHEMA.safeParse(document);
  if (checked.success) return { judgeUnownedRecords: checked.data.judge_unowned_records ?? false };
  const issues = checked.error.issues.map(
    (issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`,
  );
  return `${issues.join('; ')}; it takes judge_unowned_records: true or false`;
}
