import { hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { HttpError } from './http-error.js';

/** Passes a request that presents a configured agent secret. @throws HttpError 503 when none is configured, then 401 */
export type CheckAgentSecret = (presented: string | null) => void;

/**
 * @param secrets `NODE_AGENT_SECRET` and, while it is being replaced, `NODE_AGENT_SECRET_PREVIOUS`; empty ones count as
 * not configured. Compared as SHA-256 digests in constant time (DESIGN 4.6).
 */
export function makeCheckAgentSecret(secrets: readonly (string | undefined)[]): CheckAgentSecret {
  const digests = secrets
    .filter((secret): secret is string => secret !== undefined && secret !== '')
    .map((secret) => sha256(Buffer.from(secret, 'utf8')));
  // Agents present the same bytes for ever, and hashing costs as much as the rest of the gate. A map finds them by a
  // seeded hash of the whole string, so its time tells nothing of a secret.
  const hashed = new LRUCache<string, Buffer>({ max: 16 });
  const digestOf = (presented: string): Buffer => {
    const known = hashed.get(presented);
    if (known !== undefined) return known;
    // Node decodes header bytes as Latin-1; a secret beyond ASCII is compared as the bytes that the agent sent.
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
    // Every configured secret is compared, so the time does not tell which one matched.
    const matches = digests.filter((known) => timingSafeEqual(known, digest));
    if (matches.length === 0) throw new HttpError('unauthorized', 'X-Agent-Secret does not match');
  };
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}
