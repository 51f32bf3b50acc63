import { randomBytes } from 'node:crypto';
import test from 'ava';
import { inBlocks } from '../../../src/keys/sealing/digests.js';

test('Draws in blocks return the bytes of the source, each once and in the requested number', (t) => {
  // Given a source that counts
  let next = 0;
  const draws: number[] = [];
  const counting = (size: number): Buffer => {
    draws.push(size);
    const bytes = Buffer.alloc(size * 4);
    for (let index = 0; index < size; index += 1) bytes.writeUInt8((next += 1) % 251, index);
    return bytes.subarray(0, size);
  };
  const draw = inBlocks(counting);
  // When bytes are drawn in many sizes
  const sizes = Array.from({ length: 2_000 }, (_, index) => (index * 7) % 40);
  const drawn = sizes.map(draw);
  // Then every draw has its size, and the source had few draws
  t.deepEqual(
    drawn.map(({ length }) => length),
    sizes,
  );
  t.true(draws.length < 20);
  // And drawn bytes stay the same although the block is wiped
  let expected = 0;
  for (const [index, bytes] of drawn.slice(0, 100).entries()) {
    for (const byte of bytes) t.is(byte, (expected += 1) % 251, `draw ${index}`);
  }
});

test('A draw that is larger than a block goes to the source', (t) => {
  const draws: number[] = [];
  const draw = inBlocks((size) => {
    draws.push(size);
    return randomBytes(size);
  });
  t.is(draw(10_000).length, 10_000);
  t.deepEqual(draws, [10_000]);
});
