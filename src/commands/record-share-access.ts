import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { shareAccessAggregate } from '../domain/share-access/share-access.js';
import { shareAggregate } from '../domain/share/share.js';

export interface ShareAccess {
  readonly accessId: string;
  readonly shareId: string;
  readonly projectId: string;
  /** Null where nobody knows it any more. */
  readonly clientIpDigest: string | null;
}

/** Accesses of shares, each in a stream of its own (DESIGN 4.4). */
export interface RecordShareAccess {
  /** Once more changes nothing. @throws StoreUnavailable */
  record(access: ShareAccess, context: CommandContext): Promise<void>;
  isRecorded(accessId: string): Promise<boolean>;
  /** Records an access that a share has counted, where whoever counted it did not come so far. */
  finish(access: Pick<ShareAccess, 'accessId' | 'shareId'>, context: CommandContext): Promise<void>;
}

export function makeRecordShareAccess({ handler }: { readonly handler: CommandHandler }): RecordShareAccess {
  const record: RecordShareAccess['record'] = async ({ accessId, ...access }, context) => {
    const target = { aggregate: shareAccessAggregate, id: accessId };
    await handler.handle(target, { type: 'Record', ...access }, context);
  };
  return {
    record,
    isRecorded: async (accessId) => (await handler.load(shareAccessAggregate, accessId)).state.recorded,
    finish: async ({ accessId, shareId }, context) => {
      const { state } = await handler.load(shareAggregate, shareId);
      if (state.status === 'absent') return;
      const { projectId } = state;
      await record({ accessId, shareId, projectId, clientIpDigest: null }, context);
    },
  };
}
