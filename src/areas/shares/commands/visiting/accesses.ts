import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import { loadOfNew } from '../../../../event-sourcing/deciding/command-handler.js';
import { shareAccessAggregate, type ShareAccessCommand } from '../../domain/share-access/share-access.js';
import { shareAggregate } from '../../domain/share/share.js';

type Recorded = Extract<ShareAccessCommand, { type: 'Record' }>;
type Downloaded = Extract<ShareAccessCommand, { type: 'RecordDownload' }>;

export type Accesses = ReturnType<typeof makeAccesses>;

/** The time that the request has to record the access itself, with more details. */
const requestMs = 15_000;

/** Makes what records the accesses of shares, each in a separate stream. A repetition changes nothing. All throw StoreUnavailable. */
export function makeAccesses({ handler, clock }: Pick<ShareDeps, 'handler' | 'clock'>) {
  return {
    recordAccess,
    /** Records that the visitor saves a file of an asset. */
    recordDownload: async (
      accessId: string,
      download: Omit<Downloaded, 'type'>,
      context: CommandContext,
    ): Promise<void> => {
      const target = { aggregate: shareAccessAggregate, id: accessId };
      await handler.handle(target, { type: 'RecordDownload', ...download }, context);
    },
    /** Records an access that a share counted, after a crash of the request that counted it. */
    recordCountedAccesses: on(shareAggregate, ['ShareUsed'], {
      name: 'record-share-accesses',
      isDue: async (_, { data, recordedAt }) => {
        const { state } = await handler.load(shareAccessAggregate, data.access_id);
        if (state.recorded) return 'no';
        return clock.now().getTime() - recordedAt.getTime() < requestMs ? 'not-yet' : 'yes';
      },
      run: async (share_id, context, { data }) => {
        const { state } = await handler.load(shareAggregate, share_id);
        if (state.status === 'absent') return;
        const { project_id } = state;
        await recordAccess(data.access_id, { share_id, project_id, client_ip_digest: null }, context);
      },
    }),
  };

  /** Records an opening. */
  async function recordAccess(
    accessId: string,
    access: Omit<Recorded, 'type'>,
    context: CommandContext,
  ): Promise<void> {
    const target = { aggregate: shareAccessAggregate, id: accessId };
    await handler.handle(target, { type: 'Record', ...access }, context, loadOfNew(context));
  }
}
