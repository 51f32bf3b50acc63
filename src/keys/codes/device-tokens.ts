import type { Keyring } from '../rings/keyring.js';
import { kidField, makeMacTokens, uuidField } from './mac-tokens.js';

/** A device from which an account was signed in to. */
type NamedDevice = { readonly userId: string; readonly device_id: string };

/**
 * Tokens of devices (src/security/README.md#known-devices): `d1.<user id>.<device id>.<key id>.<mac>`. No store holds a token. The record of
 * the account says whether the device is known, and a token of no account costs no look-up.
 */
export type DeviceTokens = ReturnType<typeof makeDeviceTokens>;

/** Makes the tokens. @param keys `REFRESH_KEYS`: its old keys are kept for 90 days, as long as a device is known */
export function makeDeviceTokens(keys: Keyring) {
  const tokens = makeMacTokens(keys, {
    ...{ prefix: 'd1', purpose: 'device' },
    fields: { userId: uuidField, device_id: uuidField, kid: kidField },
  });
  return {
    issue: ({ userId, device_id }: NamedDevice) =>
      tokens.issue({ userId, device_id, kid: keys.active().kid }),
    /** Returns the device of a token of this service, or null. It runs in constant time. */
    verify: (token: string): NamedDevice | null => {
      const found = tokens.verify(token);
      return found === null ? null : { userId: found.userId, device_id: found.device_id };
    },
  };
}
