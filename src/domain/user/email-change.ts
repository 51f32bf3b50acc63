import type { Sealed } from '../../event-sourcing/sealed.js';
import type { MailOutcome } from '../fields.js';
import type { UserEvent } from './events.js';
import { rejectUser } from './rejections.js';
import type { EmailChange, RegisteredUser } from './state.js';

export type EmailChangeCommand =
  | {
      readonly type: 'RequestEmailChange';
      readonly changeId: string;
      readonly email: Sealed;
      readonly emailDigest: string;
      readonly codeKeyId: string;
      readonly expiresAt: Date;
    }
  | { readonly type: 'MarkEmailChangeMailed'; readonly changeId: string; readonly outcome: MailOutcome }
  /** Counts a try of the mailed code, before it is compared. */
  | { readonly type: 'AttemptEmailChange'; readonly changeId: string; readonly now: Date }
  /** The code was right and the address is reserved. */
  | { readonly type: 'CompleteEmailChange'; readonly changeId: string };

/** DESIGN 4.1: tries of one mailed code. */
export const codeAttemptsMax = 5;

export function decideEmailChange(command: EmailChangeCommand, user: RegisteredUser): readonly UserEvent[] {
  switch (command.type) {
    case 'RequestEmailChange':
      // Repeated: the change's id is made from the command.
      if (user.emailChange?.changeId === command.changeId) return [];
      return [
        {
          type: 'EmailChangeRequested',
          data: {
            change_id: command.changeId,
            email: command.email,
            email_digest: command.emailDigest,
            code_key_id: command.codeKeyId,
            expires_at: command.expiresAt.toISOString(),
          },
        },
      ];
    case 'MarkEmailChangeMailed':
      if (user.emailChange?.changeId !== command.changeId || user.emailChange.mailed) return [];
      return [{ type: 'EmailChangeMailed', data: { change_id: command.changeId, outcome: command.outcome } }];
    case 'AttemptEmailChange': {
      const change = pending(user, command.changeId);
      if (change.expiresAt <= command.now) notPending();
      if (change.attempts >= codeAttemptsMax) {
        rejectUser('code_attempts_used', 'the code was tried too often; ask for another');
      }
      return [{ type: 'EmailChangeAttempted', data: { change_id: command.changeId } }];
    }
    case 'CompleteEmailChange': {
      const { email, emailDigest } = pending(user, command.changeId);
      return [
        {
          type: 'EmailChanged',
          data: { change_id: command.changeId, email, email_digest: emailDigest },
        },
      ];
    }
  }
}

function pending({ emailChange }: RegisteredUser, changeId: string): EmailChange {
  return emailChange?.changeId === changeId ? emailChange : notPending();
}

function notPending(): never {
  return rejectUser('email_change_not_pending', 'no change of address is under way');
}
