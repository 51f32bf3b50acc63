import { sessionCodec } from '../../../src/areas/accounts/domain/session/events.js';
import { anEvent } from './event.js';
import { digest, otherDigest, testId, userId } from './ids.js';

export const sessionStarted = anEvent(sessionCodec, 'SessionStarted', {
  user_id: userId,
  epoch: 0,
  amr: ['pwd'],
  auth_time: '2026-01-02T03:04:05.000Z',
  refresh_generation: 1,
  refresh_key_id: 'r1',
  refresh_token_digest: digest,
  idle_expires_at: '2026-01-16T03:04:05.000Z',
  expires_at: '2026-04-02T03:04:05.000Z',
  client_ip_digest: otherDigest,
  device_id: testId,
  user_agent: null,
});

export const sessionRevoked = anEvent(sessionCodec, 'SessionRevoked', { reason: 'signed_out' });

/** Returns the digest of the session's refresh token of a generation. */
export function tokenDigest(generation: number): string {
  return generation === 1 ? digest : generation.toString(16).padStart(64, '0');
}

export function rotatedTo(generation: number) {
  return anEvent(sessionCodec, 'RefreshTokenRotated', {
    refresh_generation: generation,
    refresh_key_id: 'r1',
    refresh_token_digest: tokenDigest(generation),
    idle_expires_at: '2026-01-16T03:04:05.000Z',
  });
}
