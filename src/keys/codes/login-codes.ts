import { createHmac, timingSafeEqual } from 'node:crypto';
import { KeyMissing } from '../sealing/errors.js';
import type { Keyring } from '../rings/keyring.js';
import { crockfordCode, parseCrockfordCode, parseSixDigits } from './agent-secrets.js';

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
  return makeCodes(keys, purpose, {
    write: (mac) => crockfordCode(mac.subarray(0, codeLength)),
    parse: (typed) => parseCrockfordCode(typed, codeLength),
  });
}

/** The fields of a code in an event. They suffice to compute the code again. */
export interface CodeIssue {
  /** The key that the code was issued with. */
  readonly kid: string;
  readonly issue_id: string;
  /** `Digests.email` of the address that receives the code. With another address the code is invalid. */
  readonly email_digest: string;
}

/**
 * Mailed codes (src/areas/accounts/commands/README.md#login-codes). A code is a function of key, issue and address, so the mail reaction and
 * the verifier compute the same code, and no store holds it.
 */
export interface MailedCodes {
  /** Returns the id of the key for a new issue. */
  active(): string;
  /** Six digits: HMAC-SHA-256 modulo 10^6. Probabilities differ by at most one part in 10^71. @throws KeyMissing */
  codeFor(issue: CodeIssue): string;
  /** Returns whether the typed text (`parseSixDigits`) is these six digits. It runs in constant time. @throws KeyMissing */
  matches(issue: CodeIssue, typed: string): boolean;
}

const codeCount = 1_000_000n;

/** Makes codes that sign in. @param keys `CODE_KEYS` */
export function makeLoginCodes(keys: Keyring): MailedCodes {
  return makeMailedCodes(keys, 'login');
}

/** Makes codes that confirm a new address of an account. None of them signs in. @param keys `CODE_KEYS` */
export function makeAddressChangeCodes(keys: Keyring): MailedCodes {
  return makeMailedCodes(keys, 'address change');
}

/** Makes codes that prove the address of an account in a session of it. None of them signs in. @param keys `CODE_KEYS` */
export function makeVerificationCodes(keys: Keyring): MailedCodes {
  return makeMailedCodes(keys, 'verification');
}

function makeMailedCodes(keys: Keyring, purpose: 'login' | 'address change' | 'verification'): MailedCodes {
  return makeCodes(keys, purpose, {
    write: (mac) => String(BigInt(`0x${mac.toString('hex')}`) % codeCount).padStart(6, '0'),
    parse: parseSixDigits,
  });
}

/** @param form how a code is written, and what a typed text is without its separators; null for no code */
function makeCodes(
  keys: Keyring,
  purpose: string,
  form: { readonly write: (mac: Buffer) => string; readonly parse: (typed: string) => string | null },
): MailedCodes {
  return {
    active: () => keys.active().kid,
    codeFor,
    matches: (issue, typed) => {
      const expected = Buffer.from(codeFor(issue).replaceAll('-', ''));
      const code = form.parse(typed);
      return code !== null && timingSafeEqual(expected, Buffer.from(code));
    },
  };

  function codeFor({ kid, issue_id, email_digest }: CodeIssue): string {
    const key = keys.find(kid);
    if (key === undefined) throw new KeyMissing(`code key ${kid} is not in CODE_KEYS`);
    // A JSON list has one reading only, so no field can extend into the next.
    const mac = createHmac('sha256', key).update(JSON.stringify([purpose, issue_id, email_digest]));
    return form.write(mac.digest());
  }
}
