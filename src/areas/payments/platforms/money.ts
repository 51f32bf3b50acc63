import type { Money } from '../domain/fact.js';
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

/** Decimals of the currencies that do not have two (ISO 4217, list one, "Mnr Unt"). */
const decimalsByCurrency: ReadonlyMap<string, number> = new Map([
  ...['BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF'].map((code) => [code, 0] as const),
  ...['UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'].map((code) => [code, 0] as const),
  ...['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'].map((code) => [code, 3] as const),
  ...['CLF', 'UYW'].map((code) => [code, 4] as const),
]);

export function decimalsOf(currency: string): number {
  return decimalsByCurrency.get(currency) ?? 2;
}

/** Returns a currency's code in upper case; null for any other value. */
function parseCurrency(text: unknown): string | null {
  return typeof text === 'string' && /^[A-Za-z]{3}$/.test(text) ? text.toUpperCase() : null;
}

/** Returns an amount in minor units; null unless it is a safe integer of at least 0 with a currency. */
export function minorUnits(amount: unknown, currency: unknown): Money | null {
  const code = parseCurrency(currency);
  if (code === null || typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) return null;
  // JSON has a negative zero.
  return { amount: amount === 0 ? 0 : amount, currency: code };
}

/** Converts `12.3` EUR to 1230, without floating point. Returns null for other spellings and for surplus decimals. */
export function decimalAmount(text: unknown, currency: unknown): Money | null {
  const code = parseCurrency(currency);
  if (code === null || typeof text !== 'string') return null;
  const [, whole = '', fraction = ''] = /^(\d{1,20})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  const decimals = decimalsOf(code);
  const kept = fraction.slice(0, decimals).padEnd(decimals, '0');
  if (whole === '' || !/^0*$/.test(fraction.slice(decimals))) return null;
  const amount = Number(`${whole}${kept}`);
  return Number.isSafeInteger(amount) ? { amount, currency: code } : null;
}

/** Stripe's units that differ from ISO 4217 ("Supported currencies", zero-decimal and special cases). */
const stripeDecimals: ReadonlyMap<string, number> = new Map([
  ['ISK', 2],
  ['MGA', 0],
  ['UGX', 2],
]);

/** Converts an amount in the units of Stripe's API to minor units. */
export function stripeAmount(amount: unknown, currency: unknown): Money | null {
  const money = minorUnits(amount, currency);
  const theirs = money === null ? undefined : stripeDecimals.get(money.currency);
  if (money === null || theirs === undefined) return money;
  const ours = decimalsOf(money.currency);
  if (ours >= theirs) return minorUnits(money.amount * 10 ** (ours - theirs), money.currency);
  const divisor = 10 ** (theirs - ours);
  return money.amount % divisor === 0 ? minorUnits(money.amount / divisor, money.currency) : null;
}

/** Converts minor units to the units of Stripe's API; null for an amount that Stripe cannot express. */
export function toStripeAmount({ amount, currency }: Money): number | null {
  const shift = (stripeDecimals.get(currency) ?? decimalsOf(currency)) - decimalsOf(currency);
  if (shift >= 0) return amount * 10 ** shift;
  const divisor = 10 ** -shift;
  return amount % divisor === 0 ? amount / divisor : null;
}

/** Writes minor units as a decimal: 1230 EUR as `12.30`, 1230 JPY as `1230`. */
function decimalText({ amount, currency }: Money): string {
  const decimals = decimalsOf(currency);
  if (decimals === 0) return String(amount);
  const digits = String(amount).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Currencies that PayPal charges without decimals although ISO 4217 has two ("Currency codes"). */
const paypalWholeUnits: ReadonlySet<string> = new Set(['HUF', 'TWD']);

/** Writes minor units as PayPal's API takes them; null for decimals that PayPal does not have. */
export function toPayPalValue(money: Money): string | null {
  const text = decimalText(money);
  if (!paypalWholeUnits.has(money.currency)) return text;
  return text.endsWith('.00') ? text.slice(0, -3) : null;
}
