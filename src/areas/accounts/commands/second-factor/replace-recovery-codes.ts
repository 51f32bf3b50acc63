import type { KnownDevice } from '../../../../security/guessing/guard.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import type { IssueRecoveryCodes } from './issue-recovery-codes.js';
import type { SecondFactors, SessionPasskey, TypedFactor } from './second-factors.js';

export interface ReplaceRecoveryCodesInput {
  readonly userId: string;
  readonly clientIp: string;
  /** The device of the session, if the account knows it; null when left out. */
  readonly known?: KnownDevice | null;
  readonly factor: TypedFactor | SessionPasskey;
}

/**
 * Replaces the recovery codes.
 * @returns the new codes, which no other call returns
 * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused; TooManyAttempts
 */
export type ReplaceRecoveryCodes = (
  input: ReplaceRecoveryCodesInput,
  context: CommandContext,
) => Promise<readonly string[]>;

export function makeReplaceRecoveryCodes({
  handler,
  secondFactors,
  issueRecoveryCodes,
}: Pick<AccountDeps, 'handler'> & {
  readonly secondFactors: Pick<SecondFactors, 'passOrPasskey'>;
  readonly issueRecoveryCodes: IssueRecoveryCodes;
}): ReplaceRecoveryCodes {
  return async ({ userId, clientIp, known = null, factor: typed }, context) => {
    const { codes, digests } = issueRecoveryCodes(userId);
    await secondFactors.passOrPasskey({ userId, client: { ip: clientIp, known }, context }, typed, (factor) =>
      handler.handle(
        { aggregate: userAggregate, id: userId },
        { type: 'ReplaceRecoveryCodes', factor, recoveryCodes: digests },
        context,
      ),
    );
    return codes;
  };
}
