import type { ShareDeps } from '../../deps.js';
import { isUsable, isUsableBy, type OpenShare, shareAggregate } from '../../domain/share/share.js';
import { digestShareToken } from '../../../../keys/codes/share-tokens.js';
import { type FindSharedAssets, nobodysId, type SharedAssets } from './shared-asset.js';

/** A share that a visitor may open, with the assets that it shows. */
export interface VisitedShare {
  readonly shareId: string;
  readonly share: OpenShare;
  readonly shared: SharedAssets;
}

/**
 * Finds the share of a visitor's token; null for a share that does not open: unknown, expired, revoked, used up, or with
 * nothing to serve. Shares that are not open make the same store calls as an unknown token.
 * @param accessId the visitor's access, which an earlier attempt may have counted as the last use; null: there is none
 * @throws StoreUnavailable
 */
export type FindVisitedShare = (token: string, accessId: string | null) => Promise<VisitedShare | null>;

export function makeFindVisitedShare({
  handler,
  digests,
  clock,
  shares,
  findSharedAssets,
}: Pick<ShareDeps, 'handler' | 'digests' | 'clock' | 'shares'> & {
  readonly findSharedAssets: FindSharedAssets;
}): FindVisitedShare {
  return async (token, accessId) => {
    const shareId = (await shares.idByToken(digestShareToken(digests, token))) ?? nobodysId;
    const { state } = await handler.load(shareAggregate, shareId);
    const now = clock.now();
    const opens =
      state.status === 'open' &&
      (accessId === null ? isUsable(state, now) : isUsableBy(state, accessId, now));
    const shared = await findSharedAssets(opens ? state : null);
    return opens && shared !== null ? { shareId, share: state, shared } : null;
  };
}
