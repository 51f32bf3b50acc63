import { createHash } from 'node:crypto';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { Overloaded } from '../event-sourcing/errors.js';
import { rejectSession } from '../domain/session/rejections.js';
import { sessionAggregate } from '../domain/session/session.js';
import { userAggregate } from '../domain/user/user.js';
import type { RefreshTokens } from '../keys/refresh-tokens.js';
import { isRejection } from './rejections.js';
import type { SecondFactors, TypedFactor } from './second-factors.js';
import type { SessionTokens, TokenPair } from './session-tokens.js';
import { refreshIdleSeconds } from './start-session.js';

export interface PassSecondFactorInput {
  readonly userId: string;
  /** The session that asks; it is strengthened. */
  readonly sessionId: string;
  readonly clientIp: string;
  readonly factor: TypedFactor;
}

/**
 * Uses up a second factor and strengthens the session. The tokens replace those that the session has; within 10 s its
 * refresh token from before is answered with the same new one (DESIGN 3, "Refresh tokens").
 * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused, session_over; TooManyAttempts; Overloaded
 */
export type PassSecondFactor = (input: PassSecondFactorInput, context: CommandContext) => Promise<TokenPair>;

const triesMax = 20;

export function makePassSecondFactor({
  handler,
  secondFactors,
  refreshTokens,
  sessionTokens,
}: {
  readonly handler: CommandHandler;
  readonly secondFactors: Pick<SecondFactors, 'pass'>;
  readonly refreshTokens: Pick<RefreshTokens, 'issueLinked'>;
  readonly sessionTokens: SessionTokens;
}): PassSecondFactor {
  return async ({ userId, sessionId, clientIp, factor: typed }, context) => {
    await secondFactors.pass({ userId, clientIp, now: context.time }, typed, (factor) =>
      handler.handle({ aggregate: userAggregate, id: userId }, { type: 'PassSecondFactor', factor }, context),
    );
    return strengthen(sessionId, context);
  };

  async function strengthen(sessionId: string, context: CommandContext): Promise<TokenPair> {
    const link = createHash('sha256').update(context.commandId).digest('base64url');
    for (let attempt = 0; attempt < triesMax; attempt += 1) {
      const { state: session } = await handler.load(sessionAggregate, sessionId);
      if (session.status !== 'started') return rejectSession('session_over', 'the session has ended');
      const { generation, keyId, link: current } = session.refresh;
      if (current === link) {
        const { token } = refreshTokens.issueLinked(sessionId, generation, link, keyId);
        return sessionTokens({ sessionId, session, refreshToken: token }, context.time);
      }
      await append(sessionId, { generation: generation + 1, link }, context);
    }
    throw new Overloaded(`a session was refreshed ${triesMax} times while it was being strengthened`);
  }

  async function append(
    sessionId: string,
    { generation, link }: { readonly generation: number; readonly link: string },
    context: CommandContext,
  ): Promise<void> {
    const { kid, digest } = refreshTokens.issueLinked(sessionId, generation, link);
    const idleExpiresAt = new Date(context.time.getTime() + refreshIdleSeconds * 1_000);
    const refresh = { generation, keyId: kid, digest, idleExpiresAt, link };
    try {
      await handler.handle(
        { aggregate: sessionAggregate, id: sessionId },
        { type: 'Strengthen', method: 'otp', refresh, now: context.time },
        context,
      );
    } catch (error) {
      // Refreshed meanwhile: another generation is asked for.
      if (!isRejection(error, 'refresh_token_superseded')) throw error;
    }
  }
}
