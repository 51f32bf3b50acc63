import { createHmac, timingSafeEqual } from 'node:crypto';
import { crockfordCode, parseCrockfordCode } from './crockford.js';
import { KeyMissing } from '../sealing/errors.js';
import type { Keyring } from '../rings/keyring.js';
import type { CodeIssue, MailedCodes } from './login-codes.js';

/** 100 bits: a code that no failed attempt may void is too long to guess. */
const codeLength = 20;

/** Returns whether a typed text has the form of such a code. */
export function isStrongCode(typed: string): boolean {
  return parseCrockfordCode(typed, codeLength) !== null;
}

/**
 * Makes codes that put a former address back (src/areas/accounts/commands/README.md#revert-of-an-address-change), as `XXXXX-XXXXX-XXXXX-XXXXX`.
 * `issue_id` is the id of the change, and `email_digest` the digest of the former address. @param keys `CODE_KEYS`
 */
export function makeAddressRevertCodes(keys: Keyring): MailedCodes {
  return makeStrongCodes(keys, 'address revert');
}

/** Makes codes that sign in for an hour (src/areas/accounts/commands/README.md#login-codes). @param keys `CODE_KEYS` */
export function makeStrongLoginCodes(keys: Keyring): MailedCodes {
  return makeStrongCodes(keys, 'strong login');
}

function makeStrongCodes(keys: Keyring, purpose: 'address revert' | 'strong login'): MailedCodes {
  function codeFor({ kid, issue_id, email_digest }: CodeIssue): string {
    const key = keys.find(kid);
    if (key === undefined) throw new KeyMissing(`code key ${kid} is not in CODE_KEYS`);
    const mac = createHmac('sha256', key).update(JSON.stringify([purpose, issue_id, email_digest]));
    return crockfordCode(mac.digest().subarray(0, codeLength));
  }

  return {
    active: () => keys.active().kid,
    codeFor,
    matches: (issue, typed) => {
      const expected = Buffer.from(codeFor(issue).replaceAll('-', ''));
      const code = parseCrockfordCode(typed, codeLength);
      return code !== null && timingSafeEqual(expected, Buffer.from(code));
    },
  };
}
