import type { Random } from '../../event-sourcing/clock.js';

/**
 * 96 random bits as text: names one write, so that a reader of the document can tell whose it is.
 * The randomness of two processes must differ.
 */
export function makeToken(random: Random): string {
  return [0, 1, 2]
    .map(() =>
      Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('');
}
