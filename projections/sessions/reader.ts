import type { AuthenticationMethod } from '../../src/domain/session/events.js';
import type { Views } from '../../src/event-sourcing/views.js';
import { sessionsProjection } from './projection.js';

/** What authentication asks of a session, on every request. */
export interface SessionAccess {
  readonly userId: string;
  /** The user's session epoch at the start. */
  readonly epoch: number;
  readonly methods: readonly AuthenticationMethod[];
  /** When the user signed in. */
  readonly authenticatedAt: Date;
  /** When it last passed a second factor; null when it never did. */
  readonly strengthenedAt: Date | null;
  /** The end whatever happens. */
  readonly expiresAt: Date;
}

/** @throws StoreUnavailable */
export interface SessionReader {
  /** Null when it was revoked, or never existed. */
  access(sessionId: string): Promise<SessionAccess | null>;
}

export function makeSessionReader({ views }: { readonly views: Views }): SessionReader {
  const sessions = views.of(sessionsProjection);
  return {
    access: async (sessionId) => {
      const document = await sessions.get(sessionId);
      if (document === null) return null;
      const { user_id: userId, epoch, amr: methods, auth_time, strengthened_at, expires_at } = document.body;
      return {
        userId,
        epoch,
        methods,
        authenticatedAt: new Date(auth_time),
        strengthenedAt: strengthened_at === null ? null : new Date(strengthened_at),
        expiresAt: new Date(expires_at),
      };
    },
  };
}
