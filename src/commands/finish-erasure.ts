import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import type { Page } from '../event-sourcing/views.js';
import { sessionAggregate } from '../domain/session/session.js';
import { userAggregate } from '../domain/user/user.js';
import type { Sealer } from '../keys/sealer.js';
import type { ProjectReader } from '../../projections/projects/reader.js';
import type { SessionReader } from '../../projections/sessions/reader.js';
import type { AddressReservations } from './address-reservations.js';
import { everyId } from './every-id.js';
import type { RemoveErasedMember } from './remove-erased-member.js';

export interface FinishErasureInput {
  readonly userId: string;
}

/**
 * What follows UserErased (DESIGN 3, Erasure): the subject key is destroyed, so that nothing of the person opens; sessions are
 * revoked; memberships end, and with them the API keys that the user has issued; the address is released. Each step may be
 * repeated. Of a user who is not erased nothing changes.
 * @throws StoreUnavailable
 */
export type FinishErasure = (input: FinishErasureInput, context: CommandContext) => Promise<void>;

export function makeFinishErasure({
  handler,
  sealer,
  sessions,
  projects,
  removeErasedMember,
  reservations,
}: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'destroy'>;
  readonly sessions: Pick<SessionReader, 'ids'>;
  readonly projects: Pick<ProjectReader, 'list'>;
  readonly removeErasedMember: RemoveErasedMember;
  readonly reservations: Pick<AddressReservations, 'release'>;
}): FinishErasure {
  return async ({ userId }, context) => {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'erased') return;
    await sealer.destroy({ kind: 'person', userId });
    for await (const id of everyId((page) => sessions.ids(userId, page))) {
      const target = { aggregate: sessionAggregate, id };
      await handler.handle(target, { type: 'Revoke', reason: 'user_erased' }, context);
    }
    for await (const projectId of everyId((page) => projectIds(userId, page))) {
      await removeErasedMember({ projectId, userId }, context);
    }
    await reservations.release(user.emailDigest, userId, context);
  };

  async function projectIds(userId: string, page: Page): Promise<readonly string[]> {
    return (await projects.list(userId, page)).map(({ resource }) => resource.id);
  }
}
