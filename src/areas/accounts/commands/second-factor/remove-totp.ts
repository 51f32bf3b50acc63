import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import type { SecondFactors, TypedFactor } from './second-factors.js';

export interface RemoveTotpInput {
  readonly userId: string;
  readonly clientIp: string;
  readonly factor: TypedFactor;
}

/**
 * Turns the second factor off and voids its recovery codes.
 * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused; TooManyAttempts
 */
export type RemoveTotp = (input: RemoveTotpInput, context: CommandContext) => Promise<void>;

export function makeRemoveTotp({
  handler,
  secondFactors,
}: Pick<AccountDeps, 'handler'> & {
  readonly secondFactors: Pick<SecondFactors, 'pass'>;
}): RemoveTotp {
  return async ({ userId, clientIp, factor: typed }, context) => {
    await secondFactors.pass({ userId, clientIp, now: context.time }, typed, (factor) =>
      handler.handle({ aggregate: userAggregate, id: userId }, { type: 'RemoveTotp', factor }, context),
    );
  };
}
