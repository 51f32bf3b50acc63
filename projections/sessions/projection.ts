import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import {
  type AuthenticationMethod,
  sessionCodec,
  type SessionEvent,
} from '../../src/domain/session/events.js';
import { sessionCategory } from '../../src/domain/session/stream.js';

/** A session that has not been revoked. Refresh tokens are judged by the log alone, so nothing of them is here. */
export type SessionDocument = {
  readonly user_id: string;
  readonly epoch: number;
  readonly amr: readonly AuthenticationMethod[];
  readonly auth_time: string;
  /** When a second factor was last passed. */
  readonly strengthened_at: string | null;
  readonly expires_at: string;
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(_document: SessionDocument | null, event: Recorded<SessionEvent>): SessionDocument | null {
  switch (event.type) {
    case 'SessionStarted': {
      const { user_id, epoch, amr, auth_time, expires_at } = event.data;
      const times = { created_at: event.time, updated_at: event.time };
      return { user_id, epoch, amr, auth_time, strengthened_at: null, expires_at, ...times };
    }
    case 'SessionRevoked':
      return null;
  }
}

export const sessionsProjection: Projection<SessionDocument, SessionEvent> = {
  name: 'sessions',
  version: 1,
  category: sessionCategory,
  codec: sessionCodec,
  indexes: [],
  evolve,
};
