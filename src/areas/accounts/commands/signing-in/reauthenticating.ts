import { refusePasskeySignIn } from '../factors/passkey-proofs.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { TryingClient } from '../../../../security/guessing/guard.js';
import type { AuthenticationResponse } from '../../../../security/tokens/webauthn.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import type { AuthenticationMethod } from '../../domain/session/events.js';
import { sessionAggregate } from '../../domain/session/session.js';
import { loadRegistered } from '../finding.js';
import type { PassPasskey } from '../factors/passkey-proofs.js';
import type { PasswordCommands } from './passwords.js';
import type { TryLoginCode } from './try-login-code.js';

/** What the caller presents, unchecked, by its method. `passkey`: a response to `PasskeyOptions.forSignIn` of the session. */
export type ReauthenticationProof =
  | { readonly method: 'pwd' | 'email'; readonly proof: string }
  | { readonly method: 'passkey'; readonly proof: AuthenticationResponse };

interface ReauthenticateInput {
  readonly userId: string;
  /** The session of the request, which becomes fresh. */
  readonly sessionId: string;
  readonly client: TryingClient;
  readonly presented: ReauthenticationProof;
}

/**
 * Makes the use case that proves the user of a running session again (src/areas/accounts/commands/README.md#fresh-authentication). Wrong
 * attempts count at the limits of the credential, together with those of its other uses.
 */
export function makeReauthenticate(
  deps: Pick<AccountDeps, 'handler'> &
    Pick<PasswordCommands, 'checkPresentPassword'> & {
      readonly passPasskey: PassPasskey;
      readonly tryLoginCode: TryLoginCode;
    },
) {
  const { handler, checkPresentPassword, tryLoginCode, passPasskey } = deps;
  /**
   * @throws CommandRejected credentials_refused, password_not_checkable, user_not_found, session_over; TooManyAttempts;
   * Overloaded
   */
  return async (input: ReauthenticateInput, context: CommandContext): Promise<void> => {
    await prove(input, context);
    const method: AuthenticationMethod = input.presented.method;
    const command = { type: 'Reauthenticate', method, now: context.time } as const;
    await handler.handle(sessionAggregate.at(input.sessionId), command, context);
  };

  async function prove(
    { userId, sessionId, client, presented }: ReauthenticateInput,
    context: CommandContext,
  ): Promise<void> {
    const user = await loadRegistered(handler, userId);
    switch (presented.method) {
      case 'pwd': {
        const tried = { userId, user, client, password: presented.proof, field: 'password' };
        await checkPresentPassword(tried, context);
        return;
      }
      case 'email': {
        const tried = { email_digest: user.email_digest, client, code: presented.proof };
        if ((await tryLoginCode(tried, context))?.userId === userId) return;
        return rejectUseCase(
          'credentials_refused',
          'code is wrong, was used, or is not valid any more; ask for another',
        );
      }
      case 'passkey': {
        const use = { purpose: 'reauthenticate', sessionId } as const;
        if ((await passPasskey({ userId, use, response: presented.proof }, context)) !== null) return;
        return refusePasskeySignIn();
      }
    }
  }
}
