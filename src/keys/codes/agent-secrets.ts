import { hash } from 'node:crypto';
import type { Clock } from '../../kit/time/clock.js';
import { reread } from '../rings/key-rings.js';

/** White space, dashes and minus signs of all kinds, and the marks that copied text carries: soft hyphen, zero widths, directions. */
const separators = /[\s\p{Pd}\u2212\p{Cf}]/gu;

/** Characters of a typed code. The normal form of a text of many marks takes the square of its length. */
const typedCodeMax = 64;

/** Returns a code as its mail or app shows it: the plain form of full-width and other styled characters, without separators. */
function foldTypedCode(typed: string): string {
  return typed.length > typedCodeMax ? '' : typed.normalize('NFKC').replace(separators, '');
}

/** Parses a typed code of six digits. Null for a text that cannot be a code. */
export function parseSixDigits(typed: string): string | null {
  const code = foldTypedCode(typed);
  return /^[0-9]{6}$/.test(code) ? code : null;
}

/** Crockford's base 32 has no I, L, O and U, so that a person reads a handwritten code correctly. */
const crockfordAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const crockfordPattern = /^[0-9A-HJKMNP-TV-Z]*$/;
const groupLength = 5;

/** Writes the first characters of a code, one for each byte, as `XXXXX-XXXXX-…`: 5 bits of each byte count. */
export function crockfordCode(bytes: Uint8Array): string {
  // 256 is a multiple of 32, so all characters are equally likely.
  const code = Array.from(bytes, (byte) => crockfordAlphabet.charAt(byte % crockfordAlphabet.length));
  return Array.from({ length: Math.ceil(code.length / groupLength) }, (_, group) =>
    code.slice(group * groupLength, (group + 1) * groupLength).join(''),
  ).join('-');
}

/**
 * Parses a typed code of this many characters: upper case, without separators, I and L as 1, O as 0. Null for a text that
 * cannot be a code.
 */
export function parseCrockfordCode(typed: string, length: number): string | null {
  const code = foldTypedCode(typed).toUpperCase().replace(/[IL]/g, '1').replace(/O/g, '0');
  return code.length === length && crockfordPattern.test(code) ? code : null;
}

/** The secrets that agents may present. They change with their source (src/keys/README.md#key-files). */
export interface AgentSecrets {
  /** Returns the SHA-256 of each secret; none when no secret is configured. */
  digests(): readonly Buffer[];
  /**
   * Resolves when the source has been read since the call, for a secret that no digest matches. The source is read at most
   * once a second for this, and all callers of a second wait for one reading: an agent whose new secret is in the source is
   * never refused.
   */
  refreshed(): Promise<void>;
  /** Reads the source again. After a problem the old secrets stay. */
  reload(): void;
  /** Reads the source every 30 s, until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
}

const refreshIntervalMs = 1_000;

/**
 * @param deps.load reads the source; absent and blank secrets count as not configured
 * @param deps.onProblem receives the error of a reading
 * @throws the error of the first reading
 */
export function makeAgentSecrets(deps: {
  readonly load: () => readonly (string | undefined)[];
  readonly clock: Clock;
  readonly onProblem: (error: unknown) => void;
}): AgentSecrets {
  const { load, clock, onProblem } = deps;
  let digests = digestsOf(load());
  let refreshedAtMs = -Infinity;
  let refreshing: Promise<void> | null = null;
  return {
    digests: () => digests,
    refreshed: () => (refreshing ??= refresh()),
    reload,
    watch: (signal) => reread(reload, clock, signal),
  };

  function reload(): void {
    try {
      digests = digestsOf(load());
    } catch (error) {
      onProblem(error);
    }
  }

  async function refresh(): Promise<void> {
    const waitMs = refreshedAtMs + refreshIntervalMs - clock.steadyMs();
    try {
      // Also without a wait, so that `refreshing` is set before it is cleared.
      await (waitMs > 0 ? clock.sleep(waitMs) : Promise.resolve());
    } finally {
      // A caller that comes after this line needs another reading.
      refreshing = null;
    }
    refreshedAtMs = clock.steadyMs();
    reload();
  }
}

/** Makes secrets whose source is read once: variables of a process never change. */
export function makeFixedAgentSecrets(secrets: readonly (string | undefined)[]): AgentSecrets {
  const digests = digestsOf(secrets);
  return {
    digests: () => digests,
    refreshed: () => Promise.resolve(),
    reload: () => undefined,
    watch: () => Promise.resolve(),
  };
}

function digestsOf(secrets: readonly (string | undefined)[]): readonly Buffer[] {
  return secrets
    .filter((secret): secret is string => secret !== undefined && secret !== '')
    .map((secret) => hash('sha256', Buffer.from(secret, 'utf8'), 'buffer'));
}
