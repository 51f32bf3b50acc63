import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { userAggregate } from '../domain/user/user.js';
import type { Digests } from '../keys/digests.js';
import { KeyMissing } from '../keys/errors.js';
import { erased, type Sealer } from '../keys/sealer.js';
import type { GuardedTries } from '../security/guarded-tries.js';
import type { Passwords, PasswordVerdict } from '../security/passwords.js';
import type { UserReader, UserResource } from '../../projections/users/reader.js';
import { checkAddress } from './check-address.js';
import type { Account, FindAccount } from './find-account.js';
import type { OnUncheckable } from './refuse-uncheckable.js';
import { rejectUseCase, TooManyAttempts } from './rejections.js';
import type { TokenPair } from './session-tokens.js';
import type { StartSession } from './start-session.js';

export interface LoginInput {
  readonly email: string;
  readonly password: string;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** What the client calls itself; null where it says nothing. */
  readonly userAgent: string | null;
}

/** Who has signed in. */
export interface SignedIn {
  readonly user: UserResource;
  readonly tokens: TokenPair;
}

/**
 * Signs in by address and password (DESIGN 4.1). An address without an account is refused with the same words after the same
 * hashing.
 * @throws CommandRejected invalid_request, credentials_refused; TooManyAttempts; Overloaded
 */
export type Login = (input: LoginInput, context: CommandContext) => Promise<SignedIn>;

interface Checked extends Account {
  readonly needsRehash: boolean;
}

export function makeLogin({
  handler,
  findAccount,
  sealer,
  digests,
  passwords,
  tries,
  users,
  startSession,
  onRehashFailed,
  onUncheckable,
}: {
  readonly handler: CommandHandler;
  readonly findAccount: FindAccount;
  readonly sealer: Pick<Sealer, 'open' | 'seal'>;
  readonly digests: Pick<Digests, 'email'>;
  readonly passwords: Passwords;
  /** By address and client. */
  readonly tries: GuardedTries;
  readonly users: Pick<UserReader, 'find'>;
  readonly startSession: StartSession;
  /** The password stays hashed as it was until the next sign-in. */
  readonly onRehashFailed: (error: unknown) => void;
  readonly onUncheckable: OnUncheckable;
}): Login {
  return async ({ email, password, clientIp, userAgent }, context) => {
    const emailDigest = digests.email(checkAddress(email).canonical);
    const tried = await tries.run(
      { subject: emailDigest, clientIp },
      () => check(emailDigest, password),
      passwords.requireRoom,
    );
    if (tried.outcome === 'throttled') throw new TooManyAttempts(tried.retryAfterSeconds);
    if (tried.outcome === 'failed') return refuse();
    const account = tried.value;
    if (account.needsRehash) await rehash(account, password, context).catch(onRehashFailed);
    const { userId, user } = account;
    // The epoch of the state that the password was checked against: a change of the password since then ends the session.
    const tokens = await startSession(
      { userId, epoch: user.epoch, methods: ['pwd'], clientIp, userAgent },
      context,
    );
    const found = await users.find(userId);
    return found === null ? refuse() : { user: found.resource, tokens };
  };

  async function check(emailDigest: string, password: string): Promise<Checked | null> {
    const account = await findAccount(emailDigest);
    const stored = account === null ? null : await storedHash(account);
    if (account === null || stored === null) {
      await passwords.verifyNone(password);
      return null;
    }
    const { matches, needsRehash } = await verify(password, stored);
    return matches ? { ...account, needsRehash } : null;
  }

  /** Where the hash's pepper is gone, the password is wrong as any other is: a reply of its own would tell of the account. */
  async function verify(password: string, stored: string): Promise<PasswordVerdict> {
    try {
      return await passwords.verify(password, stored);
    } catch (error) {
      if (!(error instanceof KeyMissing)) throw error;
      onUncheckable(error);
      return passwords.verifyNone(password);
    }
  }

  /** Null where no password signs in. */
  async function storedHash({ userId, user }: Account): Promise<string | null> {
    if (user.passwordHash === null) return null;
    const stored = await sealer.open({ kind: 'person', userId }, 'password_hash', user.passwordHash);
    return stored === erased ? null : stored;
  }

  async function rehash({ userId, user }: Account, password: string, context: CommandContext): Promise<void> {
    if (user.passwordHash === null) return;
    const hash = await passwords.hash(password);
    const passwordHash = await sealer.seal({ kind: 'person', userId }, 'password_hash', hash);
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'RehashPassword', passwordHash, checkedAgainst: user.passwordHash },
      context,
    );
  }
}

function refuse(): never {
  return rejectUseCase('credentials_refused', 'the e-mail address or the password is wrong');
}
