import { userInfo } from 'node:os';
import { hasCode } from '../../shared/errno.ts';
import type { Env } from '../../shared/store/home.ts';

/** A user whom the system's own list does not have is who the shell says. */
export function userName(env: Env): string {
  try {
    return userInfo().username;
  } catch (error) {
    if (!hasCode(error, 'ERR_SYSTEM_ERROR')) throw error;
    return env.USER ?? '';
  }
}
