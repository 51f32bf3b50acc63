import test from 'ava';
import { derivedId } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { orderNumber } from '../../../../src/areas/payments/domain/payment.js';
import { orderReference } from '../../../../src/areas/payments/platforms/calls/parsing.js';
import { givenContext } from '../../../support/given/given-stores.js';

test('The number of every order precedes the other ids beside it', (t) => {
  const foreign = ['cart-7', '01HZY3T9QK7M5N2P4R6S8V0W1X', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', ''];
  for (let n = 0; n < 200; n += 1) {
    const number = orderNumber(
      derivedId(givenContext(n, new Date(1_767_323_000_000 + n * 86_400_000)), 'order'),
    );
    for (const other of foreign) {
      t.is(orderReference(other, number), number);
      t.is(orderReference(null, other, number.toLowerCase()), number.toLowerCase());
    }
  }
});

test('Without a number of ours, the first id is the reference', (t) => {
  t.is(orderReference('cart-7', 'cart-8'), 'cart-7');
  t.is(orderReference('cart-7', '01HZY3T9QK7M5N2P4R6S8V0W1X'), '01HZY3T9QK7M5N2P4R6S8V0W1X');
  t.is(orderReference(null, null), null);
});
