import { sessionAggregate } from '../../domain/session/session.js';
import type { Devices, DevicesOf } from '../../../../security/guessing/devices.js';
import type { KnownDevice } from '../../../../security/guessing/guard.js';
import type { AccountDeps } from '../../deps.js';
import { type FindAccount, checkAddress } from '../finding.js';

/** The devices from which an account was signed in to: src/security/README.md#known-devices. @throws StoreUnavailable */
export interface KnownDevices extends Pick<Devices, 'forget' | 'noteSession' | 'lastSessionAt'> {
  /** Returns the device of a token, if the account of the address knows it. A text that is no token reads nothing. */
  ofToken(email: string, token: string | undefined): Promise<KnownDevice | null>;
  /** Returns the device from which a live session began, if its account knows it. */
  ofSession(session: DevicesOf & { readonly sessionId: string }): Promise<KnownDevice | null>;
  /**
   * Knows a device after a complete sign-in.
   * @param known the device if it was known before; it came back
   * @returns its token for the client
   */
  complete(of: DevicesOf, device_id: string, known: KnownDevice | null): Promise<string>;
  /** Lets the device of a session stay known, when an event at this epoch has ended those of before. */
  keep(session: DevicesOf & { readonly sessionId: string }): Promise<void>;
}

export function makeKnownDevices({
  handler,
  digests,
  devices,
  deviceTokens,
  findAccount,
}: Pick<AccountDeps, 'handler' | 'digests' | 'deviceTokens'> & {
  readonly devices: Devices;
  readonly findAccount: FindAccount;
}): KnownDevices {
  async function known({ userId, epoch }: DevicesOf, id: string): Promise<KnownDevice | null> {
    return (await devices.isKnown({ userId, epoch }, id)) ? { id, of: userId } : null;
  }

  async function deviceOf(sessionId: string): Promise<string | null> {
    const { state } = await handler.load(sessionAggregate, sessionId);
    return state.status === 'started' ? state.device_id : null;
  }

  return {
    forget: (userId) => devices.forget(userId),
    noteSession: (userId) => devices.noteSession(userId),
    lastSessionAt: (userId) => devices.lastSessionAt(userId),
    ofToken: async (email, token = '') => {
      const named = deviceTokens.verify(token);
      if (named === null) return null;
      const account = await findAccount(digests.email(checkAddress(email).canonical));
      if (account?.userId !== named.userId) return null;
      return known({ ...named, epoch: account.user.epoch }, named.device_id);
    },
    ofSession: async ({ sessionId, ...of }) => {
      const id = await deviceOf(sessionId);
      return id === null ? null : known(of, id);
    },
    complete: async (of, device_id, before) => {
      await devices.remember(of, device_id, before !== null);
      return deviceTokens.issue({ userId: of.userId, device_id });
    },
    keep: async ({ sessionId, ...of }) => {
      const id = await deviceOf(sessionId);
      if (id !== null) await devices.keep(of, id);
    },
  };
}
