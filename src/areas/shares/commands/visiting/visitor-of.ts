import { shareAggregate } from '../../domain/share/share.js';
import { digestShareToken } from '../../../../keys/codes/share-tokens.js';
import type { KnownDevice } from '../../../../security/guessing/guard.js';
import type { ShareDeps } from '../../deps.js';

/**
 * Returns the visitor who once opened the share with its present password, by a session of then, which may have ended; null: a
 * stranger. A text that is no session of this service reads nothing.
 */
export type VisitorOf = (input: {
  readonly token: string;
  readonly session: string | undefined;
}) => Promise<KnownDevice | null>;

/** Every session ends after it. */
const whenever = new Date(0);

export function makeVisitorOf({
  handler,
  digests,
  shareSessions,
}: Pick<ShareDeps, 'handler' | 'digests' | 'shareSessions'>): VisitorOf {
  return async ({ token, session = '' }) => {
    const given = shareSessions.verify(session, whenever);
    if (given === null) return null;
    const { state: share } = await handler.load(shareAggregate, given.shareId);
    const stands =
      share.status === 'open' &&
      share.password_generation === given.passwordGeneration &&
      share.tokenDigest === digestShareToken(digests, token);
    return stands ? { id: given.accessId, of: given.shareId } : null;
  };
}
