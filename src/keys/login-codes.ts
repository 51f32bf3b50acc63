import { createHmac, timingSafeEqual } from 'node:crypto';
import { KeyMissing } from './errors.js';
import type { Keyring } from './keyring.js';

/** What an event keeps of a code, enough to compute it again. */
export interface CodeIssue {
  /** The key that the code was issued with. */
  readonly kid: string;
  readonly issueId: string;
  /** `Digests.email` of the address that the code is mailed to; the code is worth nothing with another. */
  readonly emailDigest: string;
}

/**
 * Codes that are mailed and typed in (DESIGN 3, "Login codes"). A code is a function of key, issue and address, so that
 * the mailing reaction and the verifier compute it alike and nothing stores it.
 */
export interface MailedCodes {
  /** The id of the key for a new issue. */
  active(): string;
  /**
   * Six digits: HMAC-SHA-256 modulo 10^6. All 256 bits take part, so that no code is likelier than another by more than
   * one part in 10^71.
   * @throws KeyMissing
   */
  codeFor(issue: CodeIssue): string;
  /** Whether exactly these six digits were typed. Constant time. @throws KeyMissing */
  matches(issue: CodeIssue, typed: string): boolean;
}

const codeCount = 1_000_000n;
const codePattern = /^[0-9]{6}$/;

/** Codes that sign in. @param keys `CODE_KEYS` */
export function makeLoginCodes(keys: Keyring): MailedCodes {
  return makeMailedCodes(keys, 'login');
}

/** Codes that confirm a new address of an account; none of them signs in. @param keys `CODE_KEYS` */
export function makeAddressChangeCodes(keys: Keyring): MailedCodes {
  return makeMailedCodes(keys, 'address change');
}

function makeMailedCodes(keys: Keyring, purpose: 'login' | 'address change'): MailedCodes {
  function codeFor({ kid, issueId, emailDigest }: CodeIssue): string {
    const key = keys.find(kid);
    if (key === undefined) throw new KeyMissing(`code key ${kid} is not in CODE_KEYS`);
    // A JSON list has one reading only: no part can be continued into the next.
    const mac = createHmac('sha256', key).update(JSON.stringify([purpose, issueId, emailDigest]));
    return String(BigInt(`0x${mac.digest('hex')}`) % codeCount).padStart(6, '0');
  }

  return {
    active: () => keys.active().kid,
    codeFor,
    matches: (issue, typed) => {
      const expected = Buffer.from(codeFor(issue));
      return codePattern.test(typed) && timingSafeEqual(expected, Buffer.from(typed));
    },
  };
}
