import { parse, YAMLParseError } from 'yaml';
import * as z from 'zod/mini';
import { type Config, DEFAULT_CONFIG } from './config-defaults.ts';
import { DEFAULT_NOTIFY_POLICY, type NotifyPolicy } from './notify/policy.ts';
import type { Retention } from './run/prune/decide.ts';
import { withoutTracing } from './yaml-tracing.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GIB_BYTES = 1024 ** 3;
const OUTCOMES = ['succeeded', 'failed', 'cancelled', 'indeterminate'] as const;

function between(least: number, most: number) {
  return z.optional(z.number().check(z.minimum(least), z.maximum(most)));
}

function wholeBetween(least: number, most: number) {
  return z.optional(z.int().check(z.minimum(least), z.maximum(most)));
}

const SCHEMA = z.strictObject({
  judge_unowned_records: z.optional(z.boolean()),
  watch: z.optional(z.boolean()),
  index: z.optional(z.boolean()),
  usage_interval_seconds: z.optional(
    z.union([z.literal(0), z.number().check(z.minimum(1), z.maximum(3600))]),
  ),
  notify: z.optional(
    z.strictObject({
      timeout_seconds: between(0.1, 600),
      at_once: wholeBetween(1, 64),
      max_attempts: wholeBetween(1, 100),
      backoff_base_seconds: between(0.01, 3600),
      backoff_cap_seconds: between(0.01, 86_400),
      lasts_hours: between(0, 48),
      expires_hours: between(0, 48),
      retry_unknown: z.optional(z.boolean()),
      skip_outcomes: z.optional(z.array(z.enum(OUTCOMES))),
      skip_own_kills: z.optional(z.boolean()),
    }),
  ),
  retention: z.optional(
    z.strictObject({
      older_than_days: between(1, 36_500),
      keep_runs: wholeBetween(1, 10_000_000),
      max_size_gb: between(0.001, 1_000_000),
    }),
  ),
});

/** What each key takes, for the message about one that has something else. */
const TAKES: Readonly<Record<string, string>> = {
  judge_unowned_records: 'true or false',
  watch: 'true or false',
  index: 'true or false',
  usage_interval_seconds: '0, or 1 to 3600',
  notify: 'a mapping',
  'notify.timeout_seconds': '0.1 to 600',
  'notify.at_once': 'a whole number from 1 to 64',
  'notify.max_attempts': 'a whole number from 1 to 100',
  'notify.backoff_base_seconds': '0.01 to 3600',
  'notify.backoff_cap_seconds': '0.01 to 86400',
  'notify.lasts_hours': '0 to 48',
  'notify.expires_hours': '0 to 48',
  'notify.retry_unknown': 'true or false',
  'notify.skip_outcomes': `a list of ${OUTCOMES.join(', ')}`,
  'notify.skip_own_kills': 'true or false',
  retention: 'a mapping',
  'retention.older_than_days': '1 to 36500',
  'retention.keep_runs': 'a whole number from 1 to 10000000',
  'retention.max_size_gb': '0.001 to 1000000',
};

/** The configuration in a text, or what is wrong with it, naming the key and what it takes. */
export function parseConfig(text: string): Config | string {
  let document: unknown;
  try {
    document = withoutTracing(() => parse(text)) ?? {};
  } catch (error) {
    // The second is the package's word for an alias of nothing, and for aliases without end.
    if (error instanceof YAMLParseError || error instanceof ReferenceError) return error.message;
    throw error;
  }
  const checked = SCHEMA.safeParse(document);
  if (checked.success) return configOf(checked.data);
  return [...new Set(checked.error.issues.map(faultOf))].join('; ');
}

function configOf(given: z.infer<typeof SCHEMA>): Config {
  return {
    judgeUnownedRecords: given.judge_unowned_records ?? DEFAULT_CONFIG.judgeUnownedRecords,
    watch: given.watch ?? DEFAULT_CONFIG.watch,
    index: given.index ?? DEFAULT_CONFIG.index,
    usageIntervalMs: scaled(given.usage_interval_seconds, SECOND_MS, DEFAULT_CONFIG.usageIntervalMs),
    notify: policyOf(given.notify ?? {}),
    retention: retentionOf(given.retention ?? {}),
  };
}

function retentionOf(given: NonNullable<z.infer<typeof SCHEMA>['retention']>): Retention {
  const { older_than_days: days, keep_runs: runs, max_size_gb: gib } = given;
  return {
    olderThanMs: days === undefined ? null : days * DAY_MS,
    keepNewest: runs ?? null,
    maxBytes: gib === undefined ? null : gib * GIB_BYTES,
  };
}

function policyOf(given: NonNullable<z.infer<typeof SCHEMA>['notify']>): NotifyPolicy {
  const usual = DEFAULT_NOTIFY_POLICY;
  return {
    timeoutMs: scaled(given.timeout_seconds, SECOND_MS, usual.timeoutMs),
    atOnce: given.at_once ?? usual.atOnce,
    maxAttempts: given.max_attempts ?? usual.maxAttempts,
    backoffBaseMs: scaled(given.backoff_base_seconds, SECOND_MS, usual.backoffBaseMs),
    backoffCapMs: scaled(given.backoff_cap_seconds, SECOND_MS, usual.backoffCapMs),
    lastsMs: scaled(given.lasts_hours, HOUR_MS, usual.lastsMs),
    expiresMs: scaled(given.expires_hours, HOUR_MS, usual.expiresMs),
    retryUnknown: given.retry_unknown ?? usual.retryUnknown,
    skipOutcomes: given.skip_outcomes ?? usual.skipOutcomes,
    skipOwnKills: given.skip_own_kills ?? usual.skipOwnKills,
  };
}

function scaled(given: number | undefined, unitMs: number, usualMs: number): number {
  return given === undefined ? usualMs : Math.round(given * unitMs);
}

function faultOf(issue: z.core.$ZodIssue): string {
  const key = issue.path.filter((part) => typeof part === 'string').join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(TAKES).filter((each) => each.split('.').slice(0, -1).join('.') === key);
    return `unknown key ${[key, issue.keys.join(', ')].filter(Boolean).join('.')}; it takes ${known.join(', ')}`;
  }
  return key === '' ? 'it is not a mapping' : `${key} takes ${TAKES[key] ?? 'another value'}`;
}
