import { LionError } from '../../shared/contract/errors.ts';
import { NOTICE_STATES, type NoticeState } from '../../shared/notify/notice-filter.ts';

/** @throws LionError `invalid_input` */
export function stateOf(text: string | undefined): NoticeState | null {
  if (text === undefined) return null;
  const state = NOTICE_STATES.find((each) => each === text);
  if (state !== undefined) return state;
  throw new LionError(
    'invalid_input',
    `--state takes ${NOTICE_STATES.join(', ')}, not ${JSON.stringify(text)}`,
  );
}
