import type { RequestSession } from '../../domain/guard.js';
import { alreadyOn } from '../../domain/factors/totp.js';
import type { AccountDeps } from '../../deps.js';
import { derivedId } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { makeTotpSecret, totpUrl } from '../../../../security/tokens/totp.js';
import { sessionAggregate } from '../../domain/session/session.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { loadRegistered, openForPerson, sealForPerson } from '../finding.js';
import {
  type FactorSession,
  type SecondFactors,
  type SessionPasskey,
  type TypedFactor,
  issueRecoveryCodes,
  issuedCodes,
} from './second-factors.js';

type ProvedSession = FactorSession & {
  readonly session: RequestSession;
  readonly factor: TypedFactor | SessionPasskey;
};

/** Makes the use cases of an authenticator app and of recovery codes (docs/accounts.md#second-factor). */
export function makeTotpCommands(deps: AccountDeps & { readonly secondFactors: SecondFactors }) {
  const { handler, sealer, randomBytes, secondFactors } = deps;
  return {
    /**
     * Makes a secret for an authenticator app. Sign-in does not change until `confirmTotp`. A later enrolment replaces one
     * that is not confirmed. A repeated command returns the same secret.
     * @returns the secret in Base32, and as an `otpauth` URL for a QR code
     * @throws CommandRejected user_not_found, totp_already_on, totp_enrolment_superseded
     */
    enrolTotp: async ({ userId }: { readonly userId: string }, context: CommandContext) => {
      const enrolment_id = derivedId(context, 'totp-enrolment');
      const secretField = { userId, field: 'totp_secret' };
      const sealed = await sealForPerson(sealer, secretField, makeTotpSecret(randomBytes));
      const command = { type: 'EnrolTotp', enrolment_id, secret: sealed } as const;
      await handler.handle(userAggregate.at(userId), command, context);
      // An earlier attempt may have enrolled another secret: the log contains the user's.
      const { totp, email } = await loadRegistered(handler, userId);
      if (totp.status === 'off' || totp.enrolment_id !== enrolment_id)
        return rejectUser('totp_enrolment_superseded', 'another enrolment has begun; use its secret');
      const secret = await openForPerson(sealer, secretField, totp.secret);
      const address = await openForPerson(sealer, { userId, field: 'email' }, email);
      return { secret, url: totpUrl({ secret, address }) };
    },
    /** Returns whether no code of this secret turns TOTP on: it is on, or another enrolment has begun. */
    hasEnrolmentEnded: async ({ userId, secret }: { readonly userId: string; readonly secret: string }) => {
      const { totp } = await loadRegistered(handler, userId);
      if (totp.status !== 'enrolling') return true;
      return (await openForPerson(sealer, { userId, field: 'totp_secret' }, totp.secret)) !== secret;
    },
    /**
     * Turns TOTP on if the code belongs to the enrolment. The session of the request passes the second factor too.
     * @returns the recovery codes, which no other call returns; null where the account had a factor, and so has codes
     * @throws CommandRejected user_not_found, totp_already_on, totp_enrolment_superseded, second_factor_refused,
     * session_ended, session_over; TooManyAttempts
     */
    confirmTotp: async (
      input: FactorSession & {
        readonly session: RequestSession;
        readonly code: string;
      },
      context: CommandContext,
    ): Promise<readonly string[] | null> => {
      const { userId, session, client, code } = input;
      const { totp } = await loadRegistered(handler, userId);
      if (totp.status === 'on') return alreadyOn();
      if (totp.status === 'off')
        return rejectUser('totp_enrolment_superseded', 'no enrolment has begun; begin one first');
      const { enrolment_id, secret } = totp;
      const step = await secondFactors.firstStep({ userId, client, context }, secret, code);
      const made = issueRecoveryCodes(deps, userId);
      const confirm = { type: 'ConfirmTotp', enrolment_id, session, step } as const;
      const command = { ...confirm, recoveryCodes: made.digests };
      await handler.handle(userAggregate.at(userId), command, context);
      const codes = issuedCodes(made, await loadRegistered(handler, userId));
      // After a crash before this, the session passes the second factor like any other session.
      const strengthen = { type: 'Strengthen', method: 'otp', refresh: null, now: context.time } as const;
      await handler.handle(sessionAggregate.at(session.id), strengthen, context);
      return codes;
    },
    /**
     * Turns TOTP off. Without a passkey, the recovery codes end too.
     * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused, session_ended; TooManyAttempts
     */
    removeTotp: async (
      { userId, session, client, factor: typed }: ProvedSession,
      context: CommandContext,
    ): Promise<void> => {
      await secondFactors.passOrPasskey({ userId, client, context }, typed, (factor) =>
        handler.handle(userAggregate.at(userId), { type: 'RemoveTotp', factor, session }, context),
      );
    },
    /**
     * Replaces the recovery codes.
     * @returns the new codes, which no other call returns
     * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused, session_ended; TooManyAttempts
     */
    replaceRecoveryCodes: async (
      { userId, session, client, factor: typed }: ProvedSession,
      context: CommandContext,
    ): Promise<readonly string[]> => {
      const { codes, digests: recoveryCodes } = issueRecoveryCodes(deps, userId);
      await secondFactors.passOrPasskey({ userId, client, context }, typed, (factor) =>
        handler.handle(
          userAggregate.at(userId),
          { type: 'ReplaceRecoveryCodes', factor, session, recoveryCodes },
          context,
        ),
      );
      return codes;
    },
  };
}
