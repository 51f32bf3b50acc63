import type { Money } from './payment-provider.js';

/** Decimals of the currencies that have not two (ISO 4217, list one, "Mnr Unt"). */
const decimalsByCurrency: ReadonlyMap<string, number> = new Map([
  ...['BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF'].map((code) => [code, 0] as const),
  ...['UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'].map((code) => [code, 0] as const),
  ...['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'].map((code) => [code, 3] as const),
  ...['CLF', 'UYW'].map((code) => [code, 4] as const),
]);

/** How many decimals an amount of this currency (upper case) has. */
export function decimalsOf(currency: string): number {
  return decimalsByCurrency.get(currency) ?? 2;
}

/** A currency's code in upper case; null for what is none. */
export function parseCurrency(text: unknown): string | null {
  return typeof text === 'string' && /^[A-Za-z]{3}$/.test(text) ? text.toUpperCase() : null;
}

/** An amount that is in minor units already; null unless it is a whole number that can be counted with, and a currency. */
export function minorUnits(amount: unknown, currency: unknown): Money | null {
  const code = parseCurrency(currency);
  if (code === null || typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) return null;
  // JSON knows a negative zero.
  return { amount: amount === 0 ? 0 : amount, currency: code };
}

/**
 * An amount written with a decimal point, as minor units: `12.3` EUR is 1230. It never passes through a floating-point number.
 * Null for any other spelling, and for more decimals than the currency has unless they are zeros.
 */
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

/** The amounts that Stripe counts in other units than ISO 4217 ("Supported currencies", zero-decimal and special cases). */
const stripeDecimals: ReadonlyMap<string, number> = new Map([
  ['ISK', 2],
  ['MGA', 0],
  ['UGX', 2],
]);

/** An amount in the units of Stripe's API, in minor units. */
export function stripeAmount(amount: unknown, currency: unknown): Money | null {
  const money = minorUnits(amount, currency);
  const theirs = money === null ? undefined : stripeDecimals.get(money.currency);
  if (money === null || theirs === undefined) return money;
  const ours = decimalsOf(money.currency);
  if (ours >= theirs) return minorUnits(money.amount * 10 ** (ours - theirs), money.currency);
  const divisor = 10 ** (theirs - ours);
  return money.amount % divisor === 0 ? minorUnits(money.amount / divisor, money.currency) : null;
}
