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
