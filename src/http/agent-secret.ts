import { hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { HttpError } from './http-error.js';

/** @throws HttpError 503 without a configured secret, 401 for a wrong one */
export type CheckAgentSecret = (presented: string | null) => void;

/**
 * Makes the check, which compares SHA-256 digests in constant time (docs/design.md#peer-nodes).
 * @param secrets `NODE_AGENT_SECRET` and `NODE_AGENT_SECRET_PREVIOUS`; empty ones count as not configured
 */
export function makeCheckAgentSecret(secrets: readonly (string | undefined)[]): CheckAgentSecret {
  const digests = secrets
    .filter((secret): secret is string => secret !== undefined && secret !== '')
    .map((secret) => sha256(Buffer.from(secret, 'utf8')));
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
  return (presented) => {
    if (digests.length === 0) {
      throw new HttpError('agent_secret_not_configured', 'no agent secret is configured on this service');
    }
    if (presented === null) throw new HttpError('unauthorized', 'X-Agent-Secret is missing');
    const digest = digestOf(presented);
    // Every configured secret is compared, so the time does not reveal which one matched.
    const matches = digests.filter((known) => timingSafeEqual(known, digest));
    if (matches.length === 0) throw new HttpError('unauthorized', 'X-Agent-Secret does not match');
  };
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}
