import type { AccountDeps } from '../../deps.js';
import { createHash } from 'node:crypto';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { Overloaded } from '../../../../kit/overloaded.js';
import { rejectSession, type SessionRejection } from '../../domain/session/rejections.js';
import { sessionAggregate, type StartedSession } from '../../domain/session/session.js';
import { userAggregate } from '../../domain/user/user.js';
import type { KnownDevice } from '../../../../security/guessing/guard.js';
import type { KnownDevices } from '../signing-in/known-devices.js';
import { isRejection } from '../../../shared/rejections.js';
import type { SecondFactors, TypedFactor } from './second-factors.js';
import type { SessionTokens, TokenPair } from '../sessions/session-tokens.js';
import { refreshIdleSeconds } from '../sessions/start-session.js';

export interface PassSecondFactorInput {
  readonly userId: string;
  /** The session of the request, which it strengthens. */
  readonly sessionId: string;
  readonly clientIp: string;
  /** The device of the session, if the account knows it; null when left out. */
  readonly known?: KnownDevice | null;
  readonly factor: TypedFactor;
}

/**
 * Uses a second factor and strengthens the session. The returned tokens replace the session's tokens. For 10 s the
 * replaced refresh token gets the same new one (src/keys/README.md#refresh-tokens).
 * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused, session_over; TooManyAttempts; Overloaded
 */
export type PassSecondFactor = (
  input: PassSecondFactorInput,
  context: CommandContext,
) => Promise<PassedFactor>;

export interface PassedFactor {
  readonly tokens: TokenPair;
  /** The factor completes the sign-in of the session. */
  readonly deviceToken: string;
}

/** A recovery code counts as TOTP and as a passkey. */
type Method = 'otp' | 'recovery';

const triesMax = 20;

export function makePassSecondFactor({
  handler,
  secondFactors,
  refreshTokens,
  sessionTokens,
  knownDevices,
}: Pick<AccountDeps, 'handler' | 'refreshTokens'> & {
  readonly secondFactors: Pick<SecondFactors, 'pass'>;
  readonly sessionTokens: SessionTokens;
  readonly knownDevices: Pick<KnownDevices, 'complete'>;
}): PassSecondFactor {
  return async ({ userId, sessionId, clientIp, known = null, factor: typed }, context) => {
    const tried = { userId, client: { ip: clientIp, known }, context };
    await secondFactors.pass(tried, typed, (factor) =>
      handler.handle({ aggregate: userAggregate, id: userId }, { type: 'PassSecondFactor', factor }, context),
    );
    const method = 'code' in typed ? 'otp' : 'recovery';
    const { tokens, deviceId, epoch } = await strengthen(sessionId, method, context);
    // At the epoch of the session: what has ended it meanwhile has ended the device too.
    return { tokens, deviceToken: await knownDevices.complete({ userId, epoch }, deviceId, known) };
  };

  async function strengthen(
    sessionId: string,
    method: Method,
    context: CommandContext,
  ): Promise<{ readonly tokens: TokenPair } & Pick<StartedSession, 'deviceId' | 'epoch'>> {
    const link = createHash('sha256').update(context.commandId).digest('base64url');
    for (let attempt = 0; attempt < triesMax; attempt += 1) {
      const { state: session } = await handler.load(sessionAggregate, sessionId);
      if (session.status !== 'started') return rejectSession('session_over', 'the session has ended');
      const { generation, keyId, link: current } = session.refresh;
      if (current === link) {
        const { token } = refreshTokens.issueLinked(sessionId, generation, link, keyId);
        const tokens = await sessionTokens({ sessionId, session, refreshToken: token }, context.time);
        return { tokens, deviceId: session.deviceId, epoch: session.epoch };
      }
      await append(sessionId, { method, generation: generation + 1, link }, context);
    }
    throw new Overloaded(`a session was refreshed ${triesMax} times while it was being strengthened`);
  }

  async function append(
    sessionId: string,
    {
      method,
      generation,
      link,
    }: { readonly method: Method; readonly generation: number; readonly link: string },
    context: CommandContext,
  ): Promise<void> {
    const { kid, digest } = refreshTokens.issueLinked(sessionId, generation, link);
    const idleExpiresAt = new Date(context.time.getTime() + refreshIdleSeconds * 1_000);
    const refresh = { generation, keyId: kid, digest, idleExpiresAt, link };
    try {
      await handler.handle(
        { aggregate: sessionAggregate, id: sessionId },
        { type: 'Strengthen', method, refresh, now: context.time },
        context,
      );
    } catch (error) {
      // A refresh was faster: the next attempt takes the next generation.
      if (!isRejection<SessionRejection>(error, 'refresh_token_superseded')) throw error;
    }
  }
}
