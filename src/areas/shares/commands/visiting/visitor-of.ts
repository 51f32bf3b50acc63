import { endingOf, type ShareState, shareAggregate } from '../../domain/share/share.js';
import type { ShareEnding } from '../../domain/share/rejections.js';
import { digestShareToken } from '../../../../keys/codes/share-tokens.js';
import type { ShareSession } from '../../../../keys/codes/share-sessions.js';
import type { KnownDevice } from '../../../../security/guessing/guard.js';
import type { ShareDeps } from '../../deps.js';

interface Visit {
  readonly token: string;
  /** Of an earlier visit, which may have ended. */
  readonly session: string | undefined;
}

/**
 * Returns the visitor who once opened the share with its present password, by a session of then; null: a stranger. A text that
 * is no session of this service reads nothing.
 */
export type VisitorOf = (visit: Visit) => Promise<KnownDevice | null>;

/** Returns why a share opens no more, for a visitor who once opened it; null for a stranger, who must not learn it. */
export type EndingFor = (visit: Visit, now: Date) => Promise<ShareEnding | null>;

/** Every session ends after it. */
const whenever = new Date(0);

type Visiting = Pick<ShareDeps, 'handler' | 'digests' | 'shareSessions'>;

export function makeVisitorOf(deps: Visiting): VisitorOf {
  return async (visit) => {
    const found = await shareOf(deps, visit);
    if (found === null) return null;
    const { given, share } = found;
    const stands = share.status === 'open' && share.password_generation === given.passwordGeneration;
    return stands ? { id: given.accessId, of: given.shareId } : null;
  };
}

export function makeEndingFor(deps: Visiting): EndingFor {
  return async (visit, now) => {
    const found = await shareOf(deps, visit);
    return found === null ? null : endingOf(found.share, now);
  };
}

/** Returns the share of a session, if it is the share of the token. */
async function shareOf(
  { handler, digests, shareSessions }: Visiting,
  { token, session = '' }: Visit,
): Promise<{
  readonly given: ShareSession;
  readonly share: Exclude<ShareState, { status: 'absent' }>;
} | null> {
  const given = shareSessions.verify(session, whenever);
  if (given === null) return null;
  const { state: share } = await handler.load(shareAggregate, given.shareId);
  const isOfToken = share.status !== 'absent' && share.tokenDigest === digestShareToken(digests, token);
  return isOfToken ? { given, share } : null;
}
