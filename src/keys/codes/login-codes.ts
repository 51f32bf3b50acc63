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

/** The fields of a code in an event. They suffice to compute the code again. */
interface CodeIssue {
  /** The key that the code was issued with. */
  readonly kid: string;
  readonly issue_id: string;
  /** `Digests.email` of the address that receives the code. With another address the code is invalid. */
  readonly email_digest: string;
}

/**
 * Codes of one purpose (src/areas/accounts/commands/README.md#login-codes). A code is a function of key, issue and address, so the mail
 * reaction and the verifier compute the same code, and no store holds it.
 */
export type MailedCodes = ReturnType<typeof makeCodes>;

/** How codes are written, and what a typed text is without its separators; null for no code. */
interface CodeForm {
  readonly write: (mac: Buffer) => string;
  readonly parse: (typed: string) => string | null;
}

const codeCount = 1_000_000n;

/** HMAC-SHA-256 modulo 10^6. Probabilities differ by at most one part in 10^71. */
const sixDigits: CodeForm = {
  write: (mac) => String(BigInt(`0x${mac.toString('hex')}`) % codeCount).padStart(6, '0'),
  parse: parseSixDigits,
};

/** `XXXXX-XXXXX-XXXXX-XXXXX`. */
const strong: CodeForm = {
  write: (mac) => crockfordCode(mac.subarray(0, codeLength)),
  parse: (typed) => parseCrockfordCode(typed, codeLength),
};

/** The codes by their purpose. No code of one purpose serves another. */
export type AllMailedCodes = ReturnType<typeof makeMailedCodes>;

/** Makes the codes that the service mails. @param keys `CODE_KEYS` */
export function makeMailedCodes(keys: Keyring) {
  return {
    /** They sign in. */
    loginCodes: makeCodes(keys, 'login', sixDigits),
    /** They sign in for an hour (src/areas/accounts/commands/README.md#login-codes). */
    strongLoginCodes: makeCodes(keys, 'strong login', strong),
    /** They confirm a new address of an account. */
    addressChangeCodes: makeCodes(keys, 'address change', sixDigits),
    /** They prove the address of an account in a session of it. */
    verificationCodes: makeCodes(keys, 'verification', sixDigits),
    /**
     * They put a former address back (src/areas/accounts/commands/README.md#revert-of-an-address-change). `issue_id` is the id of the change,
     * and `email_digest` the digest of the former address.
     */
    addressRevertCodes: makeCodes(keys, 'address revert', strong),
  };
}

function makeCodes(keys: Keyring, purpose: string, form: CodeForm) {
  return {
    /** Returns the id of the key for a new issue. */
    active: () => keys.active().kid,
    /** @throws KeyMissing */
    codeFor,
    /** Returns whether the typed text is the code. It runs in constant time. No text is the code of a key that was retired. */
    matches: (issue: CodeIssue, typed: string) => {
      const isKnown = keys.find(issue.kid) !== undefined;
      const { kid } = isKnown ? issue : keys.active();
      const expected = Buffer.from(codeFor({ ...issue, kid }).replaceAll('-', ''));
      const code = form.parse(typed);
      return code !== null && timingSafeEqual(expected, Buffer.from(code)) && isKnown;
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
