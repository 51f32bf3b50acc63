import { sessionAggregate } from '../../domain/session/session.js';
import type { Devices, DevicesOf } from '../../../../security/guessing/devices.js';
import type { KnownDevice } from '../../../../security/guessing/guard.js';
import type { AccountDeps } from '../../deps.js';
import { type FindAccount, checkAddress } from '../finding.js';

type OfSession = DevicesOf & { readonly sessionId: string };

export type KnownDevices = ReturnType<typeof makeKnownDevices>;

/** Makes what knows the devices from which an account was signed in to: src/security/README.md#known-devices. @throws StoreUnavailable */
export function makeKnownDevices({
  handler,
  digests,
  devices,
  deviceTokens,
  findAccount,
}: Pick<AccountDeps, 'handler' | 'digests' | 'deviceTokens'> & {
  readonly devices: Devices;
  readonly findAccount: FindAccount;
}) {
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
    /** Lets the device of a session stay known, when an event at this epoch has ended those of before. */
    keep: async ({ sessionId, ...of }: OfSession): Promise<void> => {
      const id = await deviceOf(sessionId);
      if (id !== null) await devices.keep(of, id);
    },
  };
}
