/** Cryptographically strong random bytes: `randomBytes` of `node:crypto`, or a seeded stand-in in tests. */
export type RandomBytes = (size: number) => Buffer;
