import { createHmac } from 'node:crypto';

/** Returns cryptographically strong random bytes: `randomBytes` of `node:crypto`, or a seeded substitute in tests. */
export type RandomBytes = (size: number) => Buffer;

const blockBytes = 4_096;

/** Draws in blocks of 4 KiB, because small draws cost almost as much as large ones. It returns no byte twice. */
export function inBlocks(source: RandomBytes): RandomBytes {
  let block: Buffer = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (size > blockBytes) return source(size);
    if (used + size > block.length) {
      block = source(blockBytes);
      used = 0;
    }
    const drawn = Buffer.from(block.subarray(used, used + size));
    block.fill(0, used, used + size);
    used += size;
    return drawn;
  };
}

/**
 * Keyed digests find values that the service does not store in the clear. A digest is HMAC-SHA-256 as 64 lower-case
 * hexadecimal digits, which fit into stream names. `INDEX_KEY` is never rotated, because the digests are names.
 */
export type Digests = ReturnType<typeof makeDigests>;

/** Makes the digests. @param indexKey 32 bytes */
export function makeDigests(indexKey: Buffer) {
  // A JSON list has one reading only, so no purpose can extend into a value.
  const of = (purpose: string, value: string) =>
    createHmac('sha256', indexKey)
      .update(JSON.stringify([purpose, value]))
      .digest('hex');
  return {
    /** @param canonical the canonical address of `parseEmailAddress` */
    email: (canonical: string) => of('email', canonical),
    /** @param address the client's address in the spelling of `makeClientIp` */
    ip: (address: string) => of('ip', address),
    /** Two users have different digests of the same code. @param code in the spelling of `parseRecoveryCode` */
    recoveryCode: (userId: string, code: string) => of('recovery-code', JSON.stringify([userId, code])),
    /** Computes the digest of a value. Values of different purposes never share a digest. */
    of,
  };
}
