import { checkName } from '../../../../validation/text.js';

/** In code points (src/areas/accounts/README.md#registration). */
export const nicknameLengthMax = 50;

/** Trims and checks a nickname. @throws CommandRejected invalid_request */
export function checkNickname(text: string): string {
  return checkName(text, 'nickname', nicknameLengthMax);
}
