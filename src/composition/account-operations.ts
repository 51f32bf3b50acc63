import { z } from 'zod';
import type { EraseUser } from '../commands/erase-user.js';
import type { VerifyEmail } from '../commands/verify-email.js';
import { defineOperation, type Operation } from '../control/operations.js';
import type { CommandContext } from '../event-sourcing/command-handler.js';

const account = z.strictObject({ email: z.string() });
const accountId = z.strictObject({ user_id: z.uuid().toLowerCase() });

/** What operators may do to an account: DESIGN 4.7. */
export function makeAccountOperations(
  { verifyEmail, eraseUser }: { readonly verifyEmail: VerifyEmail; readonly eraseUser: EraseUser },
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
