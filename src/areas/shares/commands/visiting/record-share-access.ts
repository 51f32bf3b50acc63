import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { loadOfNew } from '../../../../event-sourcing/deciding/command-handler.js';
import { shareAccessAggregate } from '../../domain/share-access/share-access.js';
import { shareAggregate } from '../../domain/share/share.js';

export interface ShareAccess {
  readonly accessId: string;
  readonly shareId: string;
  readonly projectId: string;
  /** Null where a crash lost it. */
  readonly clientIpDigest: string | null;
}

/** Records accesses of shares, each in a separate stream (src/areas/shares/README.md#share-verification). */
export interface RecordShareAccess {
  /** Records an access; a repetition changes nothing. @throws StoreUnavailable */
  record(access: ShareAccess, context: CommandContext): Promise<void>;
  /** Records that the visitor saves a file of an asset; a repetition changes nothing. @throws StoreUnavailable */
  recordDownload(
    download: Pick<ShareAccess, 'accessId' | 'shareId'> & { readonly assetId: string },
    context: CommandContext,
  ): Promise<void>;
  isRecorded(accessId: string): Promise<boolean>;
  /** Records an access that a share counted, after a crash of the request that counted it. */
  finish(access: Pick<ShareAccess, 'accessId' | 'shareId'>, context: CommandContext): Promise<void>;
}

export function makeRecordShareAccess({ handler }: Pick<ShareDeps, 'handler'>): RecordShareAccess {
  const record: RecordShareAccess['record'] = async ({ accessId, ...access }, context) => {
    const target = { aggregate: shareAccessAggregate, id: accessId };
    await handler.handle(target, { type: 'Record', ...access }, context, loadOfNew(context));
  };
  return {
    record,
    recordDownload: async ({ accessId, ...download }, context) => {
      const target = { aggregate: shareAccessAggregate, id: accessId };
      await handler.handle(target, { type: 'RecordDownload', ...download }, context);
    },
    isRecorded: async (accessId) => (await handler.load(shareAccessAggregate, accessId)).state.recorded,
    finish: async ({ accessId, shareId }, context) => {
      const { state } = await handler.load(shareAggregate, shareId);
      if (state.status === 'absent') return;
      const { projectId } = state;
      await record({ accessId, shareId, projectId, clientIpDigest: null }, context);
    },
  };
}
