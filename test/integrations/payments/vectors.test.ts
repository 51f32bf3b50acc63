import test from 'ava';
import { paymentProvider } from '../../../src/domain/payment.js';
import { personal } from './messages.js';
import { asCallback, givenProvider, messagesOf, readVectors, verifiedBy } from './vectors.js';

for (const name of paymentProvider.options) {
  const { vectors, again, negatives, unavailable } = readVectors(name);
  const messages = messagesOf[name];

  test(`${name}: ${vectors.length} genuine callbacks tell what they say`, async (t) => {
    const provider = givenProvider(t, name);
    t.deepEqual(
      vectors.map(({ title }) => title),
      messages.map(({ title }) => title),
    );
    for (const [index, { title, key, isOurs = true, told }] of messages.entries()) {
      const vector = vectors[index];
      if (vector === undefined) return t.fail();
      const verified = await verifiedBy(provider, asCallback(vector));
      t.is(verified.key, key, title);
      t.is(verified.isOurs, isOurs, title);
      t.deepEqual(
        verified.notifications.map(({ reference, fact }) => ({ ...reference, fact })),
        told.map(({ orderNumber, transactionId, fact }) => ({ orderNumber, transactionId, fact })),
        title,
      );
      t.false(JSON.stringify(verified).includes(personal), `${title}: personal data`);
    }
    return undefined;
  });

  test(`${name}: the same message in ${again.length} other ways is the same callback`, async (t) => {
    const provider = givenProvider(t, name);
    const [first, second] = vectors;
    // The second of Standard Webhooks is the payment.
    const base = name === 'standard' ? second : first;
    if (base === undefined) return t.fail();
    const expected = await verifiedBy(provider, asCallback(base));
    for (const vector of again) {
      const verified = await verifiedBy(provider, asCallback(vector));
      t.like(verified, { key: expected.key, isOurs: true, digest: verified.digest }, vector.title);
      if (!vector.title.includes('empty')) t.is(verified.digest, expected.digest, vector.title);
    }
    return undefined;
  });

  test(`${name}: ${negatives.length} wrong callbacks are refused, each for its reason`, async (t) => {
    const provider = givenProvider(t, name);
    for (const vector of negatives) {
      t.deepEqual(
        await provider.verify(asCallback(vector)),
        { kind: 'refused', reason: vector.reason },
        vector.title,
      );
    }
    for (const vector of unavailable) {
      t.is((await provider.verify(asCallback(vector))).kind, 'unavailable', vector.title);
    }
  });
}
