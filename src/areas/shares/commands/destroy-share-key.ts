import type { ShareDeps } from '../deps.js';
import { shareAggregate } from '../domain/share/share.js';

/** Destroys the key of a revoked share's token and password hash; does nothing while the share is open. */
export type DestroyShareKey = (shareId: string) => Promise<void>;

export function makeDestroyShareKey({
  handler,
  sealer,
}: Pick<ShareDeps, 'handler' | 'sealer'>): DestroyShareKey {
  return async (shareId) => {
    const { state } = await handler.load(shareAggregate, shareId);
    if (state.status !== 'revoked') return;
    await sealer.destroy({ kind: 'share', projectId: state.projectId, shareId });
  };
}
