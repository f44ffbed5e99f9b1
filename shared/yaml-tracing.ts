/** Variables by which the yaml package prints every token it sees to stdout. */
const TRACING_VARIABLES = ['LOG_STREAM', 'LOG_TOKENS'];

/**
 * Runs `work` with the yaml package's tracing off: stdout carries one JSON answer and nothing else
 * (ADR-0106), and `LOG_STREAM` is a name an environment may well have for its own ends.
 */
export function withoutTracing<T>(work: () => T): T {
  const kept = TRACING_VARIABLES.map((name) => [name, process.env[name]] as const);
  for (const name of TRACING_VARIABLES) delete process.env[name];
  try {
    return work();
  } finally {
    for (const [name, value] of kept) if (value !== undefined) process.env[name] = value;
  }
}
