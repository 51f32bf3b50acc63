import { invalid } from '../invalid-request.js';

/** Checks that the end of a share is in the future; null: no end. @throws CommandRejected invalid_request */
export function checkShareEnd(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt !== null && expiresAt <= now) invalid('expires_at', 'must be in the future');
  return expiresAt;
}
