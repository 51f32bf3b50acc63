import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { AuthenticationMethod } from '../../domain/session/events.js';
import { sessionAggregate } from '../../domain/session/session.js';
import type { RegisteredUser } from '../../domain/user/user.js';
import type { TryingClient, KnownDevice } from '../../../../security/guessing/guard.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import type { AuthenticationResponse } from '../../../../security/tokens/webauthn.js';
import type { PassPasskey } from '../passkeys/pass-passkey.js';
import type { CheckPresentPassword } from './present-password.js';
import { loadRegistered } from '../registering/registered-user.js';
import type { TryLoginCode } from './try-login-code.js';

/** The caller of a reauthentication, read up to the head of the stream. */
export interface ReauthenticatingUser {
  readonly userId: string;
  readonly user: RegisteredUser;
  readonly client: TryingClient;
}

/** What the caller presents, by its method. A further way to authenticate is a further entry. */
export interface ReauthenticationProofs {
  /** The present password, unchecked. */
  readonly pwd: string;
  /** A mailed sign-in code, unchecked. */
  readonly email: string;
  /** A response to `PasskeyOptions.forSignIn` of the session, unchecked. */
  readonly passkey: AuthenticationResponse;
}

/** The method, and its proof. */
export type ReauthenticationProof = {
  [Method in keyof ReauthenticationProofs]: {
    readonly method: Method;
    readonly proof: ReauthenticationProofs[Method];
  };
}[keyof ReauthenticationProofs];

export interface ReauthenticateInput {
  readonly userId: string;
  /** The session of the request, which becomes fresh. */
  readonly sessionId: string;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The device of the session, if the account knows it; null when left out. */
  readonly known?: KnownDevice | null;
  readonly presented: ReauthenticationProof;
}

/**
 * Proves the user of a running session again (src/areas/accounts/commands/README.md#fresh-authentication). Wrong attempts count at the limits of
 * the credential, together with those of its other uses.
 * @throws CommandRejected credentials_refused, password_not_checkable, user_not_found, session_over; TooManyAttempts;
 * Overloaded
 */
export type Reauthenticate = (input: ReauthenticateInput, context: CommandContext) => Promise<void>;

export function makeReauthenticate({
  handler,
  checkPresentPassword,
  tryLoginCode,
  passPasskey,
}: Pick<AccountDeps, 'handler'> & {
  readonly passPasskey: PassPasskey;
  readonly checkPresentPassword: CheckPresentPassword;
  readonly tryLoginCode: TryLoginCode;
}): Reauthenticate {
  return async ({ userId, sessionId, clientIp, known = null, presented }, context) => {
    const of = { userId, user: await loadRegistered(handler, userId), client: { ip: clientIp, known } };
    const method = await prove({ ...of, sessionId }, presented, context);
    await handler.handle(
      { aggregate: sessionAggregate, id: sessionId },
      { type: 'Reauthenticate', method, now: context.time },
      context,
    );
  };

  async function prove(
    of: ReauthenticatingUser & { readonly sessionId: string },
    presented: ReauthenticationProof,
    context: CommandContext,
  ): Promise<AuthenticationMethod> {
    switch (presented.method) {
      case 'pwd':
        await checkPresentPassword({ ...of, password: presented.proof, field: 'password' }, context);
        return 'pwd';
      case 'email':
        await proveCode(of, presented.proof, context);
        return 'email';
      case 'passkey':
        await provePasskey(of, presented.proof, context);
        return 'passkey';
    }
  }

  async function provePasskey(
    { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
    response: AuthenticationResponse,
    context: CommandContext,
  ): Promise<void> {
    const use = { purpose: 'reauthenticate', sessionId } as const;
    if ((await passPasskey({ userId, use, response }, context)) !== null) return;
    rejectUseCase(
      'credentials_refused',
      'the passkey is unknown or was refused, or its challenge was used or is over; ask for new options',
    );
  }

  async function proveCode(
    { userId, user, client }: ReauthenticatingUser,
    code: string,
    context: CommandContext,
  ): Promise<void> {
    const used = await tryLoginCode({ emailDigest: user.email_digest, client, code }, context);
    if (used?.userId === userId) return;
    rejectUseCase(
      'credentials_refused',
      'code is wrong, was used, or is not valid any more; ask for another',
    );
  }
}
