import { invalid } from '../invalid-request.js';

/** An end that is set for a share; null: none. @throws CommandRejected invalid_request */
export function checkShareEnd(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt !== null && expiresAt <= now) invalid('expires_at', 'must be in the future');
  return expiresAt;
}
