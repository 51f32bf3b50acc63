import {
  type SessionEpoch,
  type SessionProofs,
  sessionHolds,
} from '../../../src/areas/accounts/domain/guard.js';
import type { Credentials } from '../../../src/areas/accounts/domain/factors/credentials.js';
import type { Page, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import { type Sealer, erased } from '../../../src/keys/sealing/sealer.js';
import { type SessionDocument, sessionsProjection } from './projection.js';
import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';
import { authenticationMethod } from '../../../src/areas/accounts/domain/session/events.js';

/** A session as its user sees it (src/areas/accounts/README.md#sessions). */
export const sessionResource = z.strictObject({
  id: entityId,
  methods: z
    .array(authenticationMethod)
    .describe('`email`: a mailed code. `otp`: TOTP. `recovery`: a recovery code.'),
  created_at: instant,
  last_used_at: instant.describe('When it was last given tokens.'),
  authenticated_at: instant.describe('When the user last signed in or authenticated again.'),
  strengthened_at: instant.nullable().describe('When it last passed a second factor.'),
  expires_at: instant.describe('When it ends unless it is used again.'),
  user_agent: z.string().nullable(),
});
type SessionResource = z.infer<typeof sessionResource>;

/** The fields of a session that authentication reads on every request. */
export interface SessionAccess {
  readonly userId: string;
  /** The user's session epoch at the start. */
  readonly epoch: number;
  readonly proofs: SessionProofs;
  /** When the user last proved a mailed code in this session; null: never. */
  readonly emailCodeAt: Date | null;
  /** The latest end of the session. */
  readonly expiresAt: Date;
}

/** @throws StoreUnavailable */
export type SessionReader = ReturnType<typeof makeSessionReader>;

const readAtOnce = 200;

export function makeSessionReader(deps: { readonly views: Views; readonly sealer: Pick<Sealer, 'open'> }) {
  const { views, sealer } = deps;
  const sessions = views.of(sessionsProjection);
  return {
    /** Lists the ids of a user's sessions that are not revoked, newest first, including expired ones. */
    ids: async (userId: string, page: Page) => {
      const where = { field: 'user_id', equals: userId };
      return (await sessions.find({ where, descending: true, ...page })).map(({ id }) => id);
    },
    /**
     * Returns the ids of the sessions that are too many: those that have ended or expired, then those that have not passed TOTP where it
     * is on, because a password is enough to begin them, then those used least recently. At most 200.
     * @param options.not the session that stays in any case
     */
    leastUsed: async (
      user: SessionEpoch & Pick<Credentials, 'totp'> & { readonly id: string },
      { keep, not, now }: { keep: number; not: string; now: Date },
    ) => {
      const where = { field: 'user_id', equals: user.id };
      const found = await sessions.find({ where, limit: keep + readAtOnce });
      const rank = ({ id, body }: ViewDocument<SessionDocument>): number => {
        if (!isLive(body, now) || !sessionHolds(user, { id, ...body })) return 0;
        return user.totp.status === 'on' && body.strengthened_at === null ? 1 : 2;
      };
      const others = found
        .filter(({ id }) => id !== not)
        .sort(
          (one, other) =>
            rank(one) - rank(other) ||
            one.body.last_used_at.localeCompare(other.body.last_used_at) ||
            one.id.localeCompare(other.id),
        );
      return others.slice(0, Math.max(0, others.length + 1 - keep)).map(({ id }) => id);
    },
    /** Lists the sessions of a user that have not ended, newest first. */
    list: async (user: SessionEpoch & { readonly id: string }, page: Page, now: Date) =>
      Promise.all((await findLive(user, page, now)).map(present)),
  };

  /** Reads past ended sessions, whose documents stay, until the page is full. */
  async function findLive(
    user: SessionEpoch & { readonly id: string },
    { after, limit }: Page,
    now: Date,
  ): Promise<readonly ViewDocument<SessionDocument>[]> {
    const where = { field: 'user_id', equals: user.id };
    const live: ViewDocument<SessionDocument>[] = [];
    let cursor = after;
    for (;;) {
      const read = { where, descending: true, limit: readAtOnce };
      const found = await sessions.find(cursor === undefined ? read : { ...read, after: cursor });
      live.push(...found.filter(({ id, body }) => isLive(body, now) && sessionHolds(user, { id, ...body })));
      const oldest = found.at(-1);
      // All sessions have the same longest life, so the sessions before an ended one have ended too.
      const allSeen =
        oldest === undefined || found.length < readAtOnce || hasEnded(oldest.body.expires_at, now);
      if (live.length >= limit || allSeen) return live.slice(0, limit);
      cursor = oldest.id;
    }
  }

  async function present({ id, body }: ViewDocument<SessionDocument>): Promise<SessionResource> {
    const { user_id: userId, amr, auth_time, created_at, last_used_at, strengthened_at, user_agent } = body;
    const opened =
      user_agent === null ? null : await sealer.open({ kind: 'person', userId }, 'user_agent', user_agent);
    return {
      id,
      methods: [...amr],
      created_at,
      last_used_at,
      authenticated_at: auth_time,
      strengthened_at,
      expires_at: body.idle_expires_at < body.expires_at ? body.idle_expires_at : body.expires_at,
      user_agent: opened === erased ? null : opened,
    };
  }
}

export function sessionAccessOf({ body }: ViewDocument<SessionDocument>): SessionAccess {
  const { user_id: userId, epoch, auth_time, email_code_at, strengthened_at, passkey_at, expires_at } = body;
  const passedAt = { totp: instantOf(strengthened_at), passkey: instantOf(passkey_at) };
  return {
    userId,
    epoch,
    proofs: { authenticatedAt: new Date(auth_time), passedAt },
    emailCodeAt: instantOf(email_code_at),
    expiresAt: new Date(expires_at),
  };
}

function instantOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

function isLive({ idle_expires_at, expires_at }: SessionDocument, now: Date): boolean {
  return !hasEnded(idle_expires_at, now) && !hasEnded(expires_at, now);
}

function hasEnded(end: string, now: Date): boolean {
  return Date.parse(end) <= now.getTime();
}
