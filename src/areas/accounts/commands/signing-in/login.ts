import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import { userAggregate } from '../../domain/user/user.js';
import { KeyMissing } from '../../../../keys/sealing/errors.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { TryingClient, KnownDevice } from '../../../../security/guessing/guard.js';
import type { PasswordVerdict } from '../../../../security/passwords/passwords.js';
import type { UserResource } from '../../../../../projections/accounts/users/reader.js';
import { checkAddress } from '../address/check-address.js';
import type { Account, FindAccount } from './find-account.js';
import type { OnUncheckable } from './refuse-uncheckable.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import { hasFactor } from '../../domain/user/state.js';
import type { AccountGuard } from './account-guard.js';
import type { KnownDevices } from './known-devices.js';
import { refuseBanned } from '../registering/registered-user.js';
import type { TokenPair } from '../sessions/session-tokens.js';
import type { StartSession } from '../sessions/start-session.js';

export interface LoginInput {
  readonly email: string;
  readonly password: string;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The device of the client, if the account knows it; null when left out. */
  readonly known?: KnownDevice | null;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
}

export interface SignedIn {
  readonly user: UserResource;
  readonly tokens: TokenPair;
  /** Null while the sign-in needs a second factor. */
  readonly deviceToken: string | null;
}

/**
 * Signs in by address and password (src/areas/accounts/README.md#rules-of-an-account). An unknown address gets the same refusal after the same
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
  passwordGuard,
  knownDevices,
  users,
  startSession,
  onRehashFailed,
  onUncheckable,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'digests' | 'passwords' | 'users'> & {
  readonly findAccount: FindAccount;
  readonly passwordGuard: AccountGuard;
  readonly knownDevices: Pick<KnownDevices, 'complete' | 'noteSession'>;
  readonly startSession: StartSession;
  /** Reports a failed rehash. The old hash stays until the next sign-in. */
  readonly onRehashFailed: (error: unknown) => void;
  readonly onUncheckable: OnUncheckable;
}): Login {
  return async ({ email, password, clientIp, known = null, userAgent }, context) => {
    const emailDigest = digests.email(checkAddress(email).canonical);
    const client = { ip: clientIp, known };
    const admit = () => {
      passwords.requireRoom(client);
    };
    const tried = { subject: emailDigest, client, admit };
    const deviceId = known?.id ?? derivedId(context, 'device');
    let deviceToken: string | null = null;
    // The write of the guard and that of the device are one commit of embedded stores.
    const remember = async ({ userId, user }: Account): Promise<void> => {
      // With a second factor on, only that completes the sign-in.
      if (user.banned || hasFactor(user)) return;
      deviceToken = await knownDevices.complete({ userId, epoch: user.epoch }, deviceId, known);
    };
    const checked = () => check(emailDigest, password, client);
    const account = await passwordGuard.run(tried, checked, context, remember);
    if (account === null) return refuse();
    refuseBanned(account.user);
    if (account.needsRehash) await rehash(account, password, client, context).catch(onRehashFailed);
    const { userId, user } = account;
    // The epoch comes from the state that the check read: a later change of the password ends the session.
    const { epoch } = user;
    const session = { userId, epoch, methods: ['pwd'], clientIp, userAgent, deviceId } as const;
    const { tokens } = await startSession(session, context);
    if (!user.email_verified) await knownDevices.noteSession(userId);
    const found = await users.find(userId);
    return found === null ? refuse() : { user: found.resource, tokens, deviceToken };
  };

  async function check(emailDigest: string, password: string, client: TryingClient): Promise<Checked | null> {
    const account = await findAccount(emailDigest);
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
    if (user.passwordHash === null) return null;
    const stored = await sealer.open({ kind: 'person', userId }, 'password_hash', user.passwordHash);
    return stored === erased ? null : stored;
  }

  async function rehash(
    { userId, user }: Account,
    password: string,
    client: TryingClient,
    context: CommandContext,
  ): Promise<void> {
    if (user.passwordHash === null) return;
    const hash = await passwords.hash(password, client);
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
