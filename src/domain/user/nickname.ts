import { checkName } from '../text.js';

/** Characters (code points) that a nickname may have (DESIGN 4.1). */
export const nicknameLengthMax = 50;

/** Trims a nickname that was given. @throws CommandRejected invalid_request */
export function checkNickname(text: string): string {
  return checkName(text, 'nickname', nicknameLengthMax);
}
