import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../rings/keyring.js';

/** A device from which an account was signed in to. */
interface NamedDevice {
  readonly userId: string;
  readonly device_id: string;
}

/**
 * Tokens of devices (src/security/README.md#known-devices): `d1.<user id>.<device id>.<key id>.<mac>`. No store holds a token. The record of
 * the account says whether the device is known, and a token of no account costs no look-up.
 */
export interface DeviceTokens {
  issue(device: NamedDevice): string;
  /** Returns the device of a token of this service, or null. It runs in constant time. */
  verify(token: string): NamedDevice | null;
}

/** Separates these macs from all others that the ring makes. */
const purpose = 'device';

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const tokenPattern = new RegExp(
  String.raw`^d1\.(${id})\.(${id})\.([A-Za-z0-9-]{1,32})\.([A-Za-z0-9_-]{43})$`,
);

/** Makes the tokens. @param keys `REFRESH_KEYS`: its old keys are kept for 90 days, as long as a device is known */
export function makeDeviceTokens(keys: Keyring): DeviceTokens {
  function macOf(key: Buffer, body: string): string {
    return createHmac('sha256', key)
      .update(JSON.stringify([purpose, body]))
      .digest('base64url');
  }

  return {
    issue: ({ userId, device_id }) => {
      const { kid, key } = keys.active();
      const body = `d1.${userId}.${device_id}.${kid}`;
      return `${body}.${macOf(key, body)}`;
    },
    verify: (token) => {
      const [, userId, device_id, kid, mac] = tokenPattern.exec(token) ?? [];
      const key = kid === undefined ? undefined : keys.find(kid);
      if (userId === undefined || device_id === undefined || mac === undefined || key === undefined)
        return null;
      // Compares text, so that only the canonical spelling of the mac passes.
      const expected = macOf(key, token.slice(0, -mac.length - 1));
      return timingSafeEqual(Buffer.from(expected), Buffer.from(mac)) ? { userId, device_id } : null;
    },
  };
}
