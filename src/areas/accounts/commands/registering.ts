import type { AccountDeps } from '../deps.js';
import { derivedId } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../event-sourcing/ports/domain-event.js';
import type { TryingClient } from '../../../security/guessing/guard.js';
import type { EmailAddress } from '../../../validation/email-address.js';
import { checkEach, invalid } from '../../../validation/field-problems.js';
import { checkName } from '../../../validation/text.js';
import { whenRejected } from '../../shared/rejections.js';
import { nicknameLengthMax } from '../domain/user/events.js';
import type { UserRejection } from '../domain/user/rejections.js';
import { userAggregate } from '../domain/user/user.js';
import { type AddressReservations, rejectTaken } from './email/address-reservations.js';
import type { VerificationIssues } from './email/email-verification.js';
import { checkAddress, requireMailable, sealForPerson } from './finding.js';
import type { KnownDevices } from './signing-in/known-devices.js';
import type { Sessions } from './signing-in/sessions.js';

export { nicknameLengthMax };

interface RegisterInput {
  readonly email: string;
  readonly password: string;
  /** Default, also for a blank one: the local part of the address. */
  readonly nickname?: string;
  /** Null where there is none. */
  readonly client: TryingClient | null;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
}

/** Makes the registration of accounts (src/areas/accounts/README.md#registration). */
export function makeRegistering(
  deps: Pick<
    AccountDeps,
    | 'handler'
    | 'sealer'
    | 'digests'
    | 'passwords'
    | 'checkPassword'
    | 'users'
    | 'defaultCapacityBytes'
    | 'mailConfigured'
    | 'cannotMail'
  > &
    Pick<Sessions, 'startSession'> & {
      readonly verificationIssues: VerificationIssues;
      readonly reservations: AddressReservations;
      readonly knownDevices: Pick<KnownDevices, 'complete' | 'noteSession'>;
    },
) {
  const { handler, reservations, sealer, digests, passwords, checkPassword, users, knownDevices } = deps;
  const { startSession, verificationIssues, defaultCapacityBytes, mailConfigured, cannotMail } = deps;
  return {
    checkRegistration,
    /**
     * Registers an account. Where mail is configured, a code to the address is requested with it.
     * @throws CommandRejected invalid_request, email_taken
     */
    register: async (input: RegisterInput, context: CommandContext) => {
      const { address, nickname } = checkRegistration(input);
      await requireMailable({ cannotMail }, address);
      const userId = derivedId(context, 'user');
      const email_digest = digests.email(address.canonical);
      // The password is hashed before the address is checked, so that a taken address takes as long as a free one.
      const password_hash = await passwords.hash(input.password, input.client);
      await reservations.check(email_digest, userId);
      // The values are sealed before the reservation, so that only the append can fail between reservation and user.
      const seal = (field: string, text: string): Promise<Sealed> =>
        sealForPerson(sealer, { userId, field }, text).catch(refuseGone);
      const sealed = {
        email: await seal('email', address.address),
        nickname: await seal('nickname', nickname),
        password_hash: await seal('password_hash', password_hash),
      };
      // Beyond the limit of the address the account begins without a code, and its user asks for one later.
      const isMailed = mailConfigured && (await verificationIssues.count(email_digest)).allowed;
      const verification = isMailed ? verificationIssues.issue(context) : undefined;
      await reservations.reserve(email_digest, { userId, change_id: null }, context);
      const { documents } = await handler
        .handle(
          userAggregate.at(userId),
          { type: 'Register', ...sealed, email_digest, capacityBytes: defaultCapacityBytes, verification },
          context,
        )
        .catch(refuseGone);
      const { resource: user } = await users.registered(documents);
      // The epoch of a new user.
      const epoch = 0;
      const { client, userAgent } = input;
      const session = { userId, epoch, methods: ['pwd'], client, userAgent } as const;
      const { tokens, device_id } = await startSession(session, context);
      await knownDevices.noteSession(userId);
      const deviceToken = await knownDevices.complete({ userId, epoch }, device_id, null);
      return { user, tokens, deviceToken };
    },
  };

  /** Checks what needs no store, and returns it parsed. @throws CommandRejected invalid_request */
  function checkRegistration(input: Pick<RegisterInput, 'email' | 'password' | 'nickname'>) {
    const { email, password, nickname: given } = input;
    const address = checkAddress(email);
    const { nickname } = checkEach({
      nickname: () => chooseNickname(given, address),
      password: () => {
        const problem = checkPassword(password, address.localPart);
        if (problem !== null) invalid('password', problem.problem, problem.code);
      },
    });
    return { address, nickname };
  }
}

/** Rejects a registration that another command abandoned, or whose account was erased since an earlier attempt. */
const refuseGone = whenRejected<UserRejection>('registration_abandoned', 'user_not_found')(rejectTaken);

function chooseNickname(nickname: string | undefined, { localPart }: EmailAddress): string {
  const isLeftOut =
    nickname === undefined || (nickname.trim() === '' && nickname.length <= nicknameLengthMax);
  if (!isLeftOut) return checkName(nickname, 'nickname', nicknameLengthMax);
  return Array.from(localPart).slice(0, nicknameLengthMax).join('');
}
