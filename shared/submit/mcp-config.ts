import { dirname, join } from 'node:path';
import { LionError } from '../contract/errors.ts';
import { errnoOf, hasCode } from '../errno.ts';
import { JsonSyntaxError, parseJson } from '../json/parse.ts';
import { isObject, type JsonObject } from '../json/value.ts';
import { RECORD_STYLE, writeJson } from '../json/write.ts';
import { readBounded, UnusableFile } from '../record/read.ts';
import { compareBytes } from '../store/names.ts';
import type { McpConfig, RunFiles } from './request.ts';

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

export const MCP_DISABLED: McpConfig = {
  fileText: null,
  source: null,
  reason: 'mcp_disabled_by_caller',
  declared: [],
};

/** What a record and a handle say of the servers given; all null for a plain command. */
export function mcpFields(
  mcp: McpConfig | null,
  files: RunFiles,
): {
  readonly mcp_config: string | null;
  readonly mcp_config_source: string | null;
  readonly mcp_config_reason: string | null;
  readonly declared_mcp_servers: string[] | null;
  readonly mcp_config_servers: string[] | null;
} {
  const declared = mcp?.declared == null ? null : [...mcp.declared];
  return {
    mcp_config: mcp?.fileText ? files.mcpFile : null,
    mcp_config_source: mcp?.source ?? null,
    mcp_config_reason: mcp?.reason ?? null,
    declared_mcp_servers: declared,
    mcp_config_servers: declared,
  };
}

/**
 * The servers an agent is given: those of the nearest `.mcp.json` at or above a directory, copied as they are.
 * @throws LionError `invalid_input` for one that cannot be used: an agent without its tools is not what was asked.
 */
export function findMcpConfig(startDir: string): McpConfig {
  for (let dir = startDir; ; dir = dirname(dir)) {
    const path = join(dir, '.mcp.json');
    const text = readIfThere(path);
    if (text !== null) return declaredIn(path, text);
    if (dirname(dir) === dir) break;
  }
  const reason = `no_mcp_config_found_at_or_above:${startDir}`;
  return { fileText: null, source: null, reason, declared: null };
}

function readIfThere(path: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readBounded(path, MAX_CONFIG_BYTES).bytes);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    if (error instanceof UnusableFile || error instanceof TypeError || errnoOf(error) !== null)
      throw unusable(path);
    throw error;
  }
}

function declaredIn(path: string, text: string): McpConfig {
  const servers = serversIn(path, text);
  if (servers.size === 0) {
    return { fileText: null, source: path, reason: 'mcp_config_declares_no_servers', declared: [] };
  }
  const fileText = writeJson(new Map([['mcpServers', servers]]), RECORD_STYLE);
  return { fileText, source: path, reason: null, declared: [...servers.keys()].sort(compareBytes) };
}

function serversIn(path: string, text: string): JsonObject {
  try {
    const config = parseJson(text);
    const servers = isObject(config) ? config.get('mcpServers') : null;
    if (isObject(servers)) return servers;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  throw unusable(path);
}

function unusable(path: string): LionError {
  return new LionError(
    'invalid_input',
    `${path} cannot be used: it takes {"mcpServers": {...}}; --no-mcp goes without`,
  );
}
