import { z } from 'zod';
import type { VerifyEmail } from '../commands/verify-email.js';
import { defineOperation, type Operation } from '../control/operations.js';
import type { CommandContext } from '../event-sourcing/command-handler.js';

const account = z.strictObject({ email: z.string() });

/** What operators may do to an account: DESIGN 4.7. */
export function makeAccountOperations(
  { verifyEmail }: { readonly verifyEmail: VerifyEmail },
  context: () => CommandContext,
): readonly Operation[] {
  return [
    defineOperation('user verify', account, async ({ email }) => ({
      user_id: await verifyEmail({ email }, context()),
    })),
  ];
}
