import type { Random } from '../../../kit/time/clock.js';

/** Makes 96 random bits that name the write that made a document. The randomness of two processes must differ. */
export function makeToken(random: Random): string {
  return [0, 1, 2]
    .map(() =>
      Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('');
}
