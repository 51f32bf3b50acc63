import test from 'ava';
import fc from 'fast-check';
import {
  decimalAmount,
  decimalsOf,
  minorUnits,
  stripeAmount,
} from '../../../../src/areas/payments/platforms/money.js';

const currencies = { JPY: 0, EUR: 2, KWD: 3, CLF: 4 } as const;
const currency = fc.constantFrom<keyof typeof currencies>('JPY', 'EUR', 'KWD', 'CLF');

/** Writes an amount with the currency's decimals, only by moving digits. */
function written(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  return decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`;
}

test('An amount with its decimals is read as the same amount', (t) => {
  fc.assert(
    fc.property(
      fc.maxSafeInteger().filter((amount) => amount >= 0),
      currency,
      (amount, code) => {
        const text = written(BigInt(amount), currencies[code]);
        t.deepEqual(decimalAmount(text, code), { amount, currency: code });
      },
    ),
    { seed: 1, numRuns: 500 },
  );
});

test('Zeros at either end change nothing, and another last decimal changes the amount', (t) => {
  fc.assert(
    fc.property(fc.nat(10 ** 9), currency, fc.nat(2), fc.nat(2), (amount, code, before, after) => {
      const text = written(BigInt(amount), currencies[code]);
      const dotted = text.includes('.') || after === 0 ? text : `${text}.`;
      t.deepEqual(decimalAmount('0'.repeat(before) + dotted + '0'.repeat(after), code), {
        amount,
        currency: code,
      });
      const finer = `${text.includes('.') ? text : `${text}.`}1`;
      t.is(decimalAmount(finer, code), null, `${finer} ${code}`);
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('A text that is no amount is refused', (t) => {
  const texts = [
    '',
    '.',
    '1.',
    '.5',
    '-1',
    '+1',
    ' 1',
    '1 ',
    '1,00',
    '1e2',
    '0x10',
    '١',
    'NaN',
    'Infinity',
    '1.2.3',
  ];
  for (const text of [
    ...texts,
    '1\n',
    '90071992547409.92',
    '9'.repeat(16),
    '0.0000000',
    1,
    1n,
    null,
    undefined,
    ['1'],
    {},
  ]) {
    t.is(decimalAmount(text, 'EUR'), null, typeof text === 'string' ? text : typeof text);
  }
  for (const code of ['', 'EU', 'EURO', '€', 'E1R', null, 978, 'eur ']) t.is(decimalAmount('1', code), null);
  t.deepEqual(decimalAmount('12.3', 'eur'), { amount: 1230, currency: 'EUR' });
  t.deepEqual(decimalAmount('90071992547409.91', 'EUR'), {
    amount: Number.MAX_SAFE_INTEGER,
    currency: 'EUR',
  });
});

test('Whole numbers are minor units, and other values are refused', (t) => {
  t.deepEqual(minorUnits(999, 'usd'), { amount: 999, currency: 'USD' });
  t.true(Object.is(minorUnits(-0, 'usd')?.amount, 0));
  for (const amount of [-1, 0.5, 1e21, 2 ** 53, NaN, Infinity, '1', 1n, null, true, [1]]) {
    t.is(minorUnits(amount, 'USD'), null, String(amount));
  }
});

test('Currencies have the decimals of ISO 4217', (t) => {
  // ICU follows the usage: it never has more decimals, and fewer only where small coins are no longer used.
  for (const code of Intl.supportedValuesOf('currency')) {
    const used = new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions();
    const decimals = decimalsOf(code);
    t.true((used.maximumFractionDigits ?? 0) <= decimals, code);
    if (decimals !== 2 && code !== 'IQD') t.is(used.maximumFractionDigits, decimals, code);
  }
  for (const code of ['USD', 'EUR', 'CNY', 'HUF', 'TWD', 'MGA', 'IDR']) t.is(decimalsOf(code), 2);
});

test('Amounts of Stripe are minor units, except for the currencies that it counts in other units', (t) => {
  t.deepEqual(stripeAmount(999, 'usd'), { amount: 999, currency: 'USD' });
  t.deepEqual(stripeAmount(500, 'jpy'), { amount: 500, currency: 'JPY' });
  t.deepEqual(stripeAmount(5_120, 'kwd'), { amount: 5_120, currency: 'KWD' });
  t.deepEqual(stripeAmount(50_000, 'ugx'), { amount: 500, currency: 'UGX' });
  t.is(stripeAmount(50_050, 'ugx'), null);
  t.deepEqual(stripeAmount(500, 'mga'), { amount: 50_000, currency: 'MGA' });
  t.is(stripeAmount(Number.MAX_SAFE_INTEGER, 'mga'), null);
});
