import type { KnownDevice } from '../../../../security/guessing/guard.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import type { SecondFactors, SessionPasskey, TypedFactor } from './second-factors.js';

export interface RemoveTotpInput {
  readonly userId: string;
  readonly clientIp: string;
  /** The device of the session, if the account knows it; null when left out. */
  readonly known?: KnownDevice | null;
  readonly factor: TypedFactor | SessionPasskey;
}

/**
 * Turns TOTP off. Without a passkey, the recovery codes end too.
 * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused; TooManyAttempts
 */
export type RemoveTotp = (input: RemoveTotpInput, context: CommandContext) => Promise<void>;

export function makeRemoveTotp({
  handler,
  secondFactors,
}: Pick<AccountDeps, 'handler'> & {
  readonly secondFactors: Pick<SecondFactors, 'passOrPasskey'>;
}): RemoveTotp {
  return async ({ userId, clientIp, known = null, factor: typed }, context) => {
    await secondFactors.passOrPasskey({ userId, client: { ip: clientIp, known }, context }, typed, (factor) =>
      handler.handle({ aggregate: userAggregate, id: userId }, { type: 'RemoveTotp', factor }, context),
    );
  };
}
