import { sessionAggregate } from '../../domain/session/session.js';
import type { Devices, DevicesOf } from '../../../../security/guessing/devices.js';
import { type KnownDevice, type Try, makeGuard } from '../../../../security/guessing/guard.js';
import type { AccountDeps } from '../../deps.js';
import { type FindAccount, checkAddress } from '../finding.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { GuessedSecret } from '../../domain/user/events.js';
import { userAggregate } from '../../domain/user/user.js';
import type { FailureLimits } from '../../../../security/guessing/failures.js';
import { TooManyAttempts } from '../../../shared/rejections.js';

export type AccountGuard = ReturnType<typeof makeAccountGuard>;

/** Bounds the wrong attempts at a secret of accounts (`makeGuard`). The owner gets a mail when a day has no room for more. */
export function makeAccountGuard(
  given: AccountDeps & {
    readonly secret: GuessedSecret;
    readonly limits: FailureLimits;
    /** Returns the user whose secret it is; null where an address has no account, which counts alike. */
    readonly ownerOf: (subject: string) => Promise<string | null>;
  },
) {
  const { secret, limits, ownerOf, handler, ...deps } = given;
  const guard = makeGuard({ ...deps, name: secret, limits });
  return {
    hasFailures: guard.hasFailures,
    /** @returns the value of a success; null for a failure. @throws TooManyAttempts; those of `run` of `makeGuard` */
    run: async <T>(
      tried: Omit<Try, 'tell'>,
      check: () => Promise<T | null>,
      context: CommandContext,
      beside?: (value: T) => Promise<unknown>,
    ): Promise<T | null> => {
      const tell = async () => {
        const id = await ownerOf(tried.subject);
        const command = { type: 'RecordGuessing', secret, now: deps.clock.now() } as const;
        if (id !== null) await handler.handle(userAggregate.at(id), command, context);
      };
      const outcome = await guard.run({ ...tried, tell }, check, beside);
      if (outcome.outcome === 'throttled') throw new TooManyAttempts(outcome.retryAfterSeconds);
      return outcome.outcome === 'passed' ? outcome.value : null;
    },
  };
}

type OfSession = DevicesOf & { readonly sessionId: string };

export type KnownDevices = ReturnType<typeof makeKnownDevices>;

/** Makes what knows the devices from which an account was signed in to: src/security/README.md#known-devices. @throws StoreUnavailable */
export function makeKnownDevices(
  deps: AccountDeps & { readonly devices: Devices; readonly findAccount: FindAccount },
) {
  const { handler, digests, devices, deviceTokens, findAccount } = deps;
  async function known({ userId, epoch }: DevicesOf, id: string): Promise<KnownDevice | null> {
    return (await devices.isKnown({ userId, epoch }, id)) ? { id, of: userId } : null;
  }

  async function deviceOf(sessionId: string): Promise<string | null> {
    const { state } = await handler.load(sessionAggregate, sessionId);
    return state.status === 'started' ? state.device_id : null;
  }

  return {
    ...{ forget: devices.forget, noteSession: devices.noteSession, lastSessionAt: devices.lastSessionAt },
    /** Returns the device of a token, if the account of the address knows it. A text that is no token reads nothing. */
    ofToken: async (email: string, token = ''): Promise<KnownDevice | null> => {
      const named = deviceTokens.verify(token);
      if (named === null) return null;
      const account = await findAccount(digests.email(checkAddress(email).canonical));
      if (account?.userId !== named.userId) return null;
      return known({ ...named, epoch: account.user.epoch }, named.device_id);
    },
    /** Returns the device from which a live session began, if its account knows it. */
    ofSession: async ({ sessionId, ...of }: OfSession): Promise<KnownDevice | null> => {
      const id = await deviceOf(sessionId);
      return id === null ? null : known(of, id);
    },
    /**
     * Knows a device after a complete sign-in. Returns its token for the client.
     * @param before the device if it was known before; it came back
     */
    complete: async (of: DevicesOf, device_id: string, before: KnownDevice | null): Promise<string> => {
      await devices.remember(of, device_id, before !== null);
      return deviceTokens.issue({ userId: of.userId, device_id });
    },
    /**
     * Lets the device of a session stay known, when an event at this epoch has ended those of before.
     * @param before the epoch that the command has found; another command of the device may have raised it meanwhile
     */
    keep: async ({ sessionId, ...of }: OfSession, before: number): Promise<void> => {
      const id = await deviceOf(sessionId);
      if (id !== null) await devices.keep(of, before, id);
    },
  };
}
