import { checkText } from '../../../../validation/text.js';

/** The sender's message, in characters. */
export const shareMailMessageMax = 500;

/** Checks the sender's message and trims it; null and blank: none. @throws CommandRejected invalid_request */
export function checkShareMailMessage(message: string | null): string | null {
  return message === null || message.trim() === ''
    ? null
    : checkText(message, 'message', shareMailMessageMax);
}
