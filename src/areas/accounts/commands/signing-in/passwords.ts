import type { AccountDeps } from '../../deps.js';
import { derivedId } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { KeyMissing } from '../../../../keys/sealing/errors.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { TryingClient } from '../../../../security/guessing/guard.js';
import type { PasswordVerdict } from '../../../../security/passwords/passwords.js';
import { parseEmailAddress } from '../../../../validation/email-address.js';
import { invalid } from '../../../../validation/field-problems.js';
import { isRejection, refuseUncheckable, rejectUseCase } from '../../../shared/rejections.js';
import type { UserResource } from '../../../../../projections/accounts/users/reader.js';
import type { UserRejection } from '../../domain/user/rejections.js';
import { hasFactor } from '../../domain/factors/credentials.js';
import { isFresh } from '../../domain/guard.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';
import type { AccountGuard, KnownDevices } from './known-devices.js';
import {
  type Account,
  type FindAccount,
  checkAddress,
  loadRegistered,
  openForPerson,
  refuseBanned,
  sealForPerson,
} from '../finding.js';
import type { Sessions, TokenPair } from './sessions.js';

export interface LoginInput {
  readonly email: string;
  readonly password: string;
  readonly client: TryingClient;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
}

export interface SignedIn {
  readonly user: UserResource;
  readonly tokens: TokenPair;
  /** Null while the sign-in needs a second factor. */
  readonly deviceToken: string | null;
}

/** An attempt at the present password of a signed-in user. */
interface PasswordTry {
  readonly userId: string;
  readonly user: RegisteredUser;
  readonly password: string;
  readonly client: TryingClient;
  /** The name of the field in the request. */
  readonly field: string;
}

interface ChangePasswordInput {
  readonly userId: string;
  /** The session of the request; it is the only one that stays valid. */
  readonly session: {
    readonly id: string;
    readonly epoch: number;
    /** When the session last proved a mailed code; null if it never did. */
    readonly emailCodeAt: Date | null;
  };
  /** Optional for 15 min after a sign-in or a reauthentication by a mailed code. */
  readonly currentPassword: string | undefined;
  readonly newPassword: string;
  readonly client: TryingClient;
}

/** A sign-in may rehash the same password between its check and the change. */
const triesMax = 3;

export type PasswordCommands = ReturnType<typeof makePasswordCommands>;

/** Makes the use cases of passwords. `onFailure` gets the error of a password whose key is missing, and of a rehash that failed. */
export function makePasswordCommands(
  deps: Pick<
    AccountDeps,
    'handler' | 'sealer' | 'digests' | 'passwords' | 'checkPassword' | 'users' | 'onFailure'
  > &
    Pick<Sessions, 'startSession'> & {
      readonly findAccount: FindAccount;
      readonly passwordGuard: AccountGuard;
      readonly knownDevices: Pick<KnownDevices, 'complete' | 'noteSession' | 'keep'>;
    },
) {
  const { handler, findAccount, sealer, digests, passwords, checkPassword } = deps;
  const { passwordGuard, knownDevices, users, startSession, onFailure } = deps;
  return {
    /**
     * Signs in by address and password (src/areas/accounts/README.md#rules-of-an-account). An unknown address gets the same refusal after the
     * same work.
     * @throws CommandRejected invalid_request, credentials_refused, account_banned after the right password;
     * TooManyAttempts; Overloaded
     */
    login: async (
      { email, password, client, userAgent }: LoginInput,
      context: CommandContext,
    ): Promise<SignedIn> => {
      const email_digest = digests.email(checkAddress(email).canonical);
      const device_id = client.known?.id ?? derivedId(context, 'device');
      let deviceToken: string | null = null;
      // The write of the guard and that of the device are one commit of embedded stores.
      const remember = async ({ userId, user }: Account): Promise<void> => {
        // With a second factor on, only that completes the sign-in.
        if (user.banned || hasFactor(user)) return;
        deviceToken = await knownDevices.complete({ userId, epoch: user.epoch }, device_id, client.known);
      };
      const tried = { subject: email_digest, client, admit: admit(client) };
      const check = () => checkSignIn(email_digest, password, client);
      const account = await passwordGuard.run(tried, check, context, remember);
      if (account === null) return refuse();
      refuseBanned(account.user);
      if (account.needsRehash) {
        await rehash(account, password, client, context).catch((error: unknown) => {
          // The old hash stays until the next sign-in.
          onFailure('a password could not be rehashed', error);
        });
      }
      const { userId, user } = account;
      // The epoch comes from the state that the check read: a later change of the password ends the session.
      const { epoch } = user;
      const session = { userId, epoch, methods: ['pwd'], client, userAgent, device_id } as const;
      const { tokens } = await startSession(session, context);
      if (!user.email_verified) await knownDevices.noteSession(userId);
      const found = await users.find(userId);
      return found === null ? refuse() : { user: found.resource, tokens, deviceToken };
    },
    checkPresentPassword,
    /**
     * Changes a password and ends all other sessions of the user (src/security/README.md#passwords). When it resolves, every later
     * request of those sessions is refused.
     * @throws CommandRejected invalid_request, credentials_refused, password_not_checkable, session_ended, user_not_found;
     * TooManyAttempts; Overloaded
     */
    changePassword: async (input: ChangePasswordInput, context: CommandContext): Promise<void> => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await change(input, context);
          return;
        } catch (error) {
          if (!isRejection<UserRejection>(error, 'password_changed') || attempt === triesMax) throw error;
        }
      }
    },
  };

  async function checkSignIn(
    email_digest: string,
    password: string,
    client: TryingClient,
  ): Promise<(Account & Pick<PasswordVerdict, 'needsRehash'>) | null> {
    const account = await findAccount(email_digest);
    const stored = account === null ? null : await storedHash(account);
    if (account === null || stored === null) {
      await passwords.verifyNone(password, client);
      return null;
    }
    const { matches, needsRehash } = await verify(password, stored, client);
    return matches ? { ...account, needsRehash } : null;
  }

  /** Treats a password whose pepper is missing as wrong: another reply would reveal the account. */
  async function verify(password: string, stored: string, client: TryingClient): Promise<PasswordVerdict> {
    try {
      return await passwords.verify(password, stored, client);
    } catch (error) {
      if (!(error instanceof KeyMissing)) throw error;
      onUncheckable(error);
      return passwords.verifyNone(password, client);
    }
  }

  /** Returns the hash; null where no password signs in. */
  async function storedHash({ userId, user }: Account): Promise<string | null> {
    if (user.password_hash === null) return null;
    const stored = await sealer.open({ kind: 'person', userId }, 'password_hash', user.password_hash);
    return stored === erased ? null : stored;
  }

  async function rehash(
    { userId, user }: Account,
    password: string,
    client: TryingClient,
    context: CommandContext,
  ): Promise<void> {
    if (user.password_hash === null) return;
    const hash = await passwords.hash(password, client);
    const password_hash = await sealer.seal({ kind: 'person', userId }, 'password_hash', hash);
    const command = { type: 'RehashPassword', password_hash, checkedAgainst: user.password_hash } as const;
    await handler.handle(userAggregate.at(userId), command, context);
  }

  /**
   * Checks the present password of a user, and returns the hash that it matches. It counts together with sign-ins.
   * @throws CommandRejected credentials_refused, password_not_checkable, user_not_found; TooManyAttempts; Overloaded
   */
  async function checkPresentPassword(
    { userId, user, password, client, field }: PasswordTry,
    context: CommandContext,
  ): Promise<Sealed> {
    const check = async (): Promise<Sealed | null> => {
      if (user.password_hash === null) {
        await passwords.verifyNone(password, client);
        return null;
      }
      const stored = await openForPerson(sealer, { userId, field: 'password_hash' }, user.password_hash);
      const { matches } = await passwords.verify(password, stored, client);
      return matches ? user.password_hash : null;
    };
    const tried = { subject: user.email_digest, client, admit: admit(client) };
    const run = () => passwordGuard.run(tried, check, context);
    const advice = `${field} cannot be checked any more; sign in by a mailed code, and choose a new password without it`;
    const matched = await refuseUncheckable(run, { advice, onUncheckable });
    return matched ?? rejectUseCase('credentials_refused', `${field} is not your password`);
  }

  async function change(input: ChangePasswordInput, context: CommandContext): Promise<void> {
    const { userId, session, newPassword, client } = input;
    const user = await loadRegistered(handler, userId);
    const email = await openForPerson(sealer, { userId, field: 'email' }, user.email);
    const problem = checkPassword(newPassword, parseEmailAddress(email)?.localPart ?? '');
    if (problem !== null) invalid('new_password', problem.problem, problem.code);
    const checkedAgainst = await prove(input, user, context);
    const hash = await passwords.hash(newPassword, client);
    const password_hash = await sealForPerson(sealer, { userId, field: 'password_hash' }, hash);
    const command = { type: 'ChangePassword', password_hash, checkedAgainst, session } as const;
    const revoking = { revokesAccess: true };
    const { documents } = await handler.handle(userAggregate.at(userId), command, context, revoking);
    const epoch = users.epochAfter(documents);
    // The change ends the other devices too: it may be an answer to a thief.
    await knownDevices.keep({ userId, epoch, sessionId: session.id }, user.epoch);
  }

  /** Returns the hash that the current password matches; null where a mailed code replaces it. */
  async function prove(
    { userId, session, currentPassword: password, client }: ChangePasswordInput,
    user: RegisteredUser,
    context: CommandContext,
  ): Promise<Sealed | null> {
    const field = 'current_password';
    if (password !== undefined)
      return checkPresentPassword({ userId, user, password, client, field }, context);
    const { emailCodeAt } = session;
    if (emailCodeAt !== null && isFresh(emailCodeAt, context.time)) return null;
    return invalid(field, 'is missing: only who has just proved a mailed code may leave it out', 'missing');
  }

  function admit(client: TryingClient): () => void {
    return () => passwords.requireRoom(client);
  }

  function onUncheckable(error: KeyMissing): void {
    onFailure(`the password of a user could not be checked: ${error.message}`, error);
  }
}

function refuse(): never {
  return rejectUseCase('credentials_refused', 'the e-mail address or the password is wrong');
}
