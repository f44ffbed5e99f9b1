import type { Env } from './store/home.ts';

/** The configured `li`, split on blanks; empty where the variable is blank. */
export function liCommandOf(env: Env): string[] {
  return (env.LIONAGI_MCP_LI_BIN ?? 'li').split(/\s+/).filter(Boolean);
}
