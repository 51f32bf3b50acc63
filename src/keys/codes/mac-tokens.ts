import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../rings/keyring.js';
import { KeyMissing } from '../sealing/errors.js';

/** Fields of tokens, as sources of regular expressions. */
export const uuidField = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
export const countField = '[1-9][0-9]{0,8}';
export const kidField = '[A-Za-z0-9-]{1,32}';
export const sha256Field = '[A-Za-z0-9_-]{43}';

/**
 * Makes tokens that no store holds: `<prefix>.<field>.….<mac>`, where the mac covers all before it. One field is the id of the key.
 * @param keys `REFRESH_KEYS`: its old keys outlast every session
 * @param options.purpose separates these macs from all others that the ring makes; null: the mac is of the text alone
 * @param options.fields in their order
 */
export function makeMacTokens<Name extends string>(
  keys: Keyring,
  options: {
    readonly prefix: string;
    readonly purpose: string | null;
    readonly fields: Readonly<Record<Name | 'kid', string>>;
  },
) {
  const { prefix, purpose, fields } = options;
  const names = Object.keys(fields) as (Name | 'kid')[];
  const groups = names.map((name) => String.raw`\.(?<${name}>${fields[name]})`).join('');
  const pattern = new RegExp(String.raw`^${prefix}${groups}\.(?<mac>${sha256Field})$`);
  return {
    /** @throws KeyMissing when the ring has no key of this id */
    issue: (values: Readonly<Record<Name | 'kid', string | number>>): string => {
      const key = keys.find(String(values.kid));
      if (key === undefined) throw new KeyMissing(`refresh key ${values.kid} is not in REFRESH_KEYS`);
      const body = [prefix, ...names.map((name) => values[name])].join('.');
      return `${body}.${macOf(key, body)}`;
    },
    /** Returns the fields of a token that the ring has made, or null. It compares in constant time. */
    verify: (token: string): Readonly<Record<Name | 'kid', string>> | null => {
      const found = pattern.exec(token)?.groups as Record<Name | 'kid' | 'mac', string> | undefined;
      const key = found === undefined ? undefined : keys.find(found.kid);
      if (found === undefined || key === undefined) return null;
      // Compares text, so that only the canonical spelling of the mac passes.
      const expected = macOf(key, token.slice(0, -found.mac.length - 1));
      return timingSafeEqual(Buffer.from(expected), Buffer.from(found.mac)) ? found : null;
    },
  };

  function macOf(key: Buffer, body: string): string {
    const text = purpose === null ? body : JSON.stringify([purpose, body]);
    return createHmac('sha256', key).update(text).digest('base64url');
  }
}
