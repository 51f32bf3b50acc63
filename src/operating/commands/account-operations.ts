import type { Commands } from '../../areas/commands.js';
import { z } from 'zod';
import type { Readers } from '../../../projections/readers.js';
import type { ChangeAccount } from '../../areas/accounts/commands/account/change-account.js';
import { rejectUser } from '../../areas/accounts/domain/user/rejections.js';
import type { Clock } from '../../kit/time/clock.js';
import { defineOperation, type Operation } from '../socket/operation.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { pageQuery, readPage } from '../../../projections/paging.js';

const account = z.strictObject({ email: z.string() });
const accountId = z.strictObject({ user_id: z.uuid().toLowerCase() });
/** An address or an id. */
const namedAccount = z.strictObject({ account: z.string() });

/** `user show` lists at most so many sessions and projects, the newest. */
const shownMax = 100;

/** Makes the operations on accounts (docs/operate.md#commands). */
export function makeAccountOperations(
  {
    commands,
    readers: { users, sessions, projects },
    clock,
  }: {
    readonly commands: Pick<
      Commands,
      | 'accountByName'
      | 'verifyEmail'
      | 'eraseUser'
      | 'restoreAddress'
      | 'signOutUser'
      | 'resetSecondFactor'
      | 'banUser'
      | 'unbanUser'
    >;
    readonly readers: Pick<Readers, 'users' | 'sessions' | 'projects'>;
    readonly clock: Pick<Clock, 'now'>;
  },
  context: () => CommandContext,
): readonly Operation[] {
  const change = (name: string, changeAccount: ChangeAccount): Operation =>
    defineOperation(name, namedAccount, async ({ account: named }) => {
      const { userId, changed } = await changeAccount(named, context());
      return { user_id: userId, changed };
    });
  return [
    defineOperation('user list', pageQuery, (query) => readPage(query, (page) => users.accounts(page))),
    defineOperation('user show', namedAccount, async ({ account: named }) => {
      const { userId } = await commands.accountByName(named);
      const page = { limit: shownMax };
      const found = await users.account(userId);
      if (found === null) return rejectUser('user_not_found', 'there is no such user');
      const owner = { id: userId, ...found.epoch };
      return {
        ...found.resource,
        sessions: [...(await sessions.list(owner, page, clock.now()))],
        projects: (await projects.list(userId, page)).map(({ resource: { id, name, role } }) => ({
          ...{ id, name, role },
        })),
      };
    }),
    defineOperation('user verify', account, async ({ email }) => ({
      user_id: await commands.verifyEmail({ email }, context()),
    })),
    change('user sign-out', commands.signOutUser),
    change('user reset-2fa', commands.resetSecondFactor),
    defineOperation('user restore-address', namedAccount, async ({ account: named }) => {
      const { userId } = await commands.accountByName(named);
      await commands.restoreAddress({ userId }, context());
      const found = await users.account(userId);
      return { user_id: userId, email: found?.resource.email ?? null };
    }),
    change('user ban', commands.banUser),
    change('user unban', commands.unbanUser),
    defineOperation('user erase', accountId, async ({ user_id: userId }) => {
      await commands.eraseUser({ userId }, context());
      return { user_id: userId };
    }),
  ];
}
