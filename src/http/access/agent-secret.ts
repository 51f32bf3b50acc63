import { hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { HttpError } from '../replies/error-codes.js';

/** The secrets that agents may present. */
export interface KnownAgentSecrets {
  /** Returns the SHA-256 of each secret; none when no secret is configured. */
  digests(): readonly Buffer[];
  /** Resolves when the secrets have been read since the call. */
  refreshed(): Promise<void>;
}

/**
 * Checks a secret at once, or after the next reading of the secrets when no known secret matches it.
 * @throws HttpError 503 without a configured secret, 401 for a wrong one
 */
export type CheckAgentSecret = (presented: string | null) => void | Promise<void>;

/**
 * Makes the check, which compares SHA-256 digests in constant time (src/areas/nodes/README.md#peer-nodes).
 * @param onRefused counts the refusals
 */
export function makeCheckAgentSecret(
  secrets: KnownAgentSecrets,
  onRefused: (reason: 'missing' | 'wrong' | 'not_configured') => void = () => undefined,
): CheckAgentSecret {
  // Agents always present the same bytes, and hashing costs as much as the rest of the gate, so digests are cached. The
  // map finds an entry by a seeded hash of the whole string, so its time reveals nothing about a secret.
  const hashed = new LRUCache<string, Buffer>({ max: 16 });
  const digestOf = (presented: string): Buffer => {
    const known = hashed.get(presented);
    if (known !== undefined) return known;
    // Node decodes header bytes as Latin-1. This restores the sent bytes, so a secret beyond ASCII matches.
    const digest = sha256(Buffer.from(presented, 'latin1'));
    hashed.set(presented, digest);
    return digest;
  };
  // Every configured secret is compared, so the time does not reveal which one matched.
  const isKnown = (digest: Buffer): boolean =>
    secrets.digests().filter((known) => timingSafeEqual(known, digest)).length > 0;
  const requireSecret = (): void => {
    if (secrets.digests().length > 0) return;
    onRefused('not_configured');
    throw new HttpError('agent_secret_not_configured', 'no agent secret is configured on this service');
  };
  const checkAgain = async (digest: Buffer): Promise<void> => {
    await secrets.refreshed();
    requireSecret();
    if (isKnown(digest)) return;
    onRefused('wrong');
    throw new HttpError('unauthorized', 'X-Agent-Secret does not match');
  };
  return (presented) => {
    if (presented === null) {
      requireSecret();
      onRefused('missing');
      throw new HttpError('unauthorized', 'X-Agent-Secret is missing');
    }
    const digest = digestOf(presented);
    return isKnown(digest) ? undefined : checkAgain(digest);
  };
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}
