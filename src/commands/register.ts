import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { CommandRejected } from '../event-sourcing/errors.js';
import { derivedId } from '../event-sourcing/ids.js';
import type { Sealed } from '../event-sourcing/sealed.js';
import type { InvalidRequest } from '../domain/invalid-request.js';
import { checkNickname, nicknameLengthMax } from '../domain/user/nickname.js';
import { userAggregate } from '../domain/user/user.js';
import type { Digests } from '../keys/digests.js';
import type { Sealer } from '../keys/sealer.js';
import type { EmailAddress } from '../security/email-address.js';
import type { Passwords } from '../security/passwords.js';
import type { UserReader, UserResource } from '../../projections/users/reader.js';
import { type AddressReservations, rejectTaken } from './address-reservations.js';
import { checkAddress } from './check-address.js';
import { sealForPerson } from './person-data.js';
import { isRejection } from './rejections.js';
import type { TokenPair } from './session-tokens.js';
import type { StartSession } from './start-session.js';

export interface RegisterInput {
  readonly email: string;
  readonly password: string;
  /** The address's local part when left out or blank. */
  readonly nickname?: string;
  /** In canonical spelling; null where there is none. */
  readonly clientIp: string | null;
  /** What the client calls itself; null where it says nothing. */
  readonly userAgent: string | null;
}

export interface Registered {
  readonly user: UserResource;
  readonly tokens: TokenPair;
}

/** What is wrong with a new password, as a sentence for the user that begins with the field; null when nothing is. */
export type CheckPassword = (password: string, localPart: string) => string | null;

/** Registers an account (API document 4.4). @throws CommandRejected invalid_request, email_taken */
export type Register = (input: RegisterInput, context: CommandContext) => Promise<Registered>;

export function makeRegister({
  handler,
  reservations,
  sealer,
  digests,
  passwords,
  checkPassword,
  users,
  startSession,
  defaultCapacityBytes,
}: {
  readonly handler: CommandHandler;
  readonly reservations: AddressReservations;
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly digests: Pick<Digests, 'email'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly checkPassword: CheckPassword;
  readonly users: Pick<UserReader, 'registered'>;
  readonly startSession: StartSession;
  readonly defaultCapacityBytes: number;
}): Register {
  return async (input, context) => {
    const address = checkAddress(input.email);
    const nickname = chooseNickname(input.nickname, address);
    const problem = checkPassword(input.password, address.localPart);
    if (problem !== null) throw new CommandRejected<InvalidRequest>('invalid_request', problem);

    const userId = derivedId(context, 'user');
    const emailDigest = digests.email(address.canonical);
    // Hashed before the address is looked at, so that a taken one takes as long as a free one.
    const passwordHash = await passwords.hash(input.password);
    await reservations.check(emailDigest, userId);
    // Sealed before the address is reserved: nothing that can fail for long stands between reservation and user.
    const seal = (field: string, text: string): Promise<Sealed> =>
      sealForPerson(sealer, { userId, field }, text).catch(refuseGone);
    const sealed = {
      email: await seal('email', address.address),
      nickname: await seal('nickname', nickname),
      passwordHash: await seal('password_hash', passwordHash),
    };
    await reservations.reserve(emailDigest, { userId, changeId: null }, context);
    const { documents } = await handler
      .handle(
        { aggregate: userAggregate, id: userId },
        { type: 'Register', ...sealed, emailDigest, capacityBytes: defaultCapacityBytes },
        context,
      )
      .catch(refuseGone);
    const { resource: user } = await users.registered(documents);
    // The epoch of a user who has just registered.
    const epoch = 0;
    const { clientIp, userAgent } = input;
    const tokens = await startSession({ userId, epoch, methods: ['pwd'], clientIp, userAgent }, context);
    return { user, tokens };
  };
}

/** We were too slow, and somebody who waited for the address has given us up; or the account was erased since a first try. */
function refuseGone(error: unknown): never {
  if (isRejection(error, 'registration_abandoned') || isRejection(error, 'user_not_found')) rejectTaken();
  throw error;
}

function chooseNickname(nickname: string | undefined, { localPart }: EmailAddress): string {
  const isLeftOut =
    nickname === undefined || (nickname.trim() === '' && nickname.length <= nicknameLengthMax);
  if (!isLeftOut) return checkNickname(nickname);
  return Array.from(localPart).slice(0, nicknameLengthMax).join('');
}
