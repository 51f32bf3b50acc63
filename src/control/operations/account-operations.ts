import type { Commands } from '../../commands/index.js';
import { z } from 'zod';
import { defineOperation, type Operation } from '../operation.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';

const account = z.strictObject({ email: z.string() });
const accountId = z.strictObject({ user_id: z.uuid().toLowerCase() });

/** Makes the operations on accounts (docs/design.md#operators). */
export function makeAccountOperations(
  { verifyEmail, eraseUser }: Pick<Commands, 'verifyEmail' | 'eraseUser'>,
  context: () => CommandContext,
): readonly Operation[] {
  return [
    defineOperation('user verify', account, async ({ email }) => ({
      user_id: await verifyEmail({ email }, context()),
    })),
    defineOperation('user erase', accountId, async ({ user_id: userId }) => {
      await eraseUser({ userId }, context());
      return { user_id: userId };
    }),
  ];
}
