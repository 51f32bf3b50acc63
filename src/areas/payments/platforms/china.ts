import type { Money } from '../domain/fact.js';
import { decimalText } from './money.js';
import { PlatformError } from './payment-maker.js';

/** Checks that an amount is in CNY, the only currency of these platforms. @throws PlatformError `refused` */
export function checkCny({ currency }: Money): void {
  if (currency !== 'CNY') throw new PlatformError('refused', 'currency');
}

/** Formats fen as yuan: 1230 as `12.30`. @throws PlatformError for another currency */
export function yuan(money: Money): string {
  checkCny(money);
  return decimalText(money);
}

/** Formats a time in UTC+8, as these platforms read it: `2026-01-02 11:04:05`. */
export function chinaTime(time: Date): string {
  return new Date(time.getTime() + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
}
