import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { shareAggregate } from '../domain/share/share.js';
import type { Sealer } from '../keys/sealer.js';

/** Destroys the key of a revoked share's token and password hash; once more changes nothing. */
export type DestroyShareKey = (shareId: string) => Promise<void>;

export function makeDestroyShareKey({
  handler,
  sealer,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly sealer: Pick<Sealer, 'destroy'>;
}): DestroyShareKey {
  return async (shareId) => {
    const { state } = await handler.load(shareAggregate, shareId);
    if (state.status !== 'revoked') return;
    await sealer.destroy({ kind: 'share', projectId: state.projectId, shareId });
  };
}
