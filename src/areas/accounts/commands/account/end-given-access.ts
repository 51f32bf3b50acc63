import type { Deps } from '../../../shared/deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Page } from '../../../../event-sourcing/views/views.js';
import { type GivenAccessCommand } from '../../../projects/domain/access/given-access.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { userAggregate } from '../../domain/user/user.js';
import { everyId } from '../../../shared/every-id.js';

export interface EndGivenAccessInput {
  readonly userId: string;
}

/**
 * Ends the access to projects that an account has given, where the account may not be trusted:
 * docs/design.md#proof-of-an-address, docs/design.md#bans. After CredentialsVoided, all that it gave before it. While the
 * account is banned, its API keys and invitations. It does nothing otherwise. Every step is idempotent.
 * @throws StoreUnavailable
 */
export type EndGivenAccess = (input: EndGivenAccessInput, context: CommandContext) => Promise<void>;

export function makeEndGivenAccess({
  handler,
  projects,
}: Pick<Deps, 'handler' | 'projects'>): EndGivenAccess {
  return async ({ userId }, context) => {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered') return;
    const { voidedAt, banned } = user;
    if (voidedAt !== null) await end({ userId, until: voidedAt, members: 'end' }, context);
    if (banned) await end({ userId, until: null, members: 'stay' }, context);
  };

  async function end(
    ended: Omit<Extract<GivenAccessCommand, { type: 'EndGivenAccess' }>, 'type'>,
    context: CommandContext,
  ): Promise<void> {
    for await (const id of everyId((page) => projectIds(ended.userId, page))) {
      const target = { aggregate: projectAggregate, id };
      await handler.handle(target, { type: 'EndGivenAccess', ...ended }, context, { revokesAccess: true });
    }
  }

  async function projectIds(userId: string, page: Page): Promise<readonly string[]> {
    return (await projects.list(userId, page)).map(({ resource }) => resource.id);
  }
}
