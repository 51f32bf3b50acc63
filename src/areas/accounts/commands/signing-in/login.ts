import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import { KeyMissing } from '../../../../keys/sealing/errors.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { GuardedTries } from '../../../../security/guessing/guarded-tries.js';
import type { KnownNetworks } from '../../../../security/guessing/known-networks.js';
import type { PasswordVerdict } from '../../../../security/passwords/passwords.js';
import type { UserResource } from '../../../../../projections/accounts/users/reader.js';
import { checkAddress } from '../address/check-address.js';
import type { Account, FindAccount } from './find-account.js';
import type { OnUncheckable } from './refuse-uncheckable.js';
import { rejectUseCase, TooManyAttempts } from '../../../shared/rejections.js';
import { type AccountTries, perClient } from './account-tries.js';
import { refuseBanned } from '../registering/registered-user.js';
import type { TokenPair } from '../sessions/session-tokens.js';
import type { StartSession } from '../sessions/start-session.js';

export interface LoginInput {
  readonly email: string;
  readonly password: string;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
}

export interface SignedIn {
  readonly user: UserResource;
  readonly tokens: TokenPair;
}

/**
 * Signs in by address and password (docs/design.md#accounts). An unknown address gets the same refusal after the same
 * work.
 * @throws CommandRejected invalid_request, credentials_refused, account_banned after the right password;
 * TooManyAttempts; Overloaded
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
  passwordTries,
  tries,
  networks,
  users,
  startSession,
  onRehashFailed,
  onUncheckable,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'digests' | 'passwords' | 'users'> & {
  readonly findAccount: FindAccount;
  /** Counts by address, for all clients together. */
  readonly passwordTries: AccountTries;
  /** Counts by address and client. */
  readonly tries: GuardedTries;
  readonly networks: Pick<KnownNetworks, 'remember'>;
  readonly startSession: StartSession;
  /** Reports a failed rehash. The old hash stays until the next sign-in. */
  readonly onRehashFailed: (error: unknown) => void;
  readonly onUncheckable: OnUncheckable;
}): Login {
  return async ({ email, password, clientIp, userAgent }, context) => {
    const emailDigest = digests.email(checkAddress(email).canonical);
    const tried = await passwordTries.run(
      { emailDigest, clientIp },
      () => check(emailDigest, password),
      context,
      perClient(tries, { subject: emailDigest, clientIp }, passwords.requireRoom),
    );
    if (tried.outcome === 'throttled') throw new TooManyAttempts(tried.retryAfterSeconds);
    if (tried.outcome === 'failed') return refuse();
    const account = tried.value;
    refuseBanned(account.user);
    if (account.needsRehash) await rehash(account, password, context).catch(onRehashFailed);
    const { userId, user } = account;
    // The epoch comes from the state that the check read: a later change of the password ends the session.
    const tokens = await startSession(
      { userId, epoch: user.epoch, methods: ['pwd'], clientIp, userAgent },
      context,
    );
    // With a second factor on, only that completes the sign-in.
    if (user.totp.status !== 'on') await networks.remember({ emailDigest, clientIp });
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

  /** Treats a password whose pepper is missing as wrong: another reply would reveal the account. */
  async function verify(password: string, stored: string): Promise<PasswordVerdict> {
    try {
      return await passwords.verify(password, stored);
    } catch (error) {
      if (!(error instanceof KeyMissing)) throw error;
      onUncheckable(error);
      return passwords.verifyNone(password);
    }
  }

  /** Returns the hash; null where no password signs in. */
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
