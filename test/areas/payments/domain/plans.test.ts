import test from 'ava';
import { whyNotPayable } from '../../../../src/areas/payments/domain/order/plans.js';
import type { PaymentProviderName } from '../../../../src/areas/payments/domain/payment.js';

test('A price that a platform cannot charge has a reason, and any other has none', (t) => {
  const cases: readonly (readonly [PaymentProviderName, number, string, RegExp | null])[] = [
    ['wechatpay', 6_900, 'CNY', null],
    ['wechatpay', 999, 'USD', /pays in CNY alone/],
    ['alipay', 999, 'USD', /pays in CNY alone/],
    ['epay', 999, 'HKD', /pays in CNY alone/],
    ['stripe', 12_340, 'BHD', null],
    ['stripe', 12_345, 'BHD', /in tens/],
    ['stripe', 12_345, 'KWD', /in tens/],
    ['stripe', 999, 'JPY', null],
    ['stripe', 1_200, 'MGA', null],
    ['stripe', 1_234, 'MGA', /whole MGA/],
    ['paypal', 999, 'USD', null],
    ['paypal', 999, 'JPY', null],
    ['paypal', 12_345, 'BHD', /does not charge BHD/],
    ['paypal', 999, 'KRW', /does not charge KRW/],
    ['paypal', 10_000, 'HUF', null],
    ['paypal', 10_050, 'TWD', /without decimals/],
    ['standard', 12_345, 'BHD', null],
  ];
  for (const [provider, amount, currency, expected] of cases) {
    const why = whyNotPayable(provider, { amount, currency });
    const name = `${provider} ${amount} ${currency}`;
    if (expected === null) t.is(why, null, name);
    else t.regex(why ?? '', expected, name);
  }
});
