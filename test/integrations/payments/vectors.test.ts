import test from 'ava';
import { paymentProvider } from '../../../src/domain/payment.js';
import { makeSeededRandom } from '../../support/clock.js';
import { allPlatforms, takeMutants } from '../../support/refused-callbacks.js';
import { personal } from './messages.js';
import { asCallback, givenProvider, messagesOf, readVectors, verifiedBy } from './vectors.js';
import { everyByteChanged, makeJudge, makeMutants } from './callback-mutants.js';

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

// Some of what test/deep tries: there every byte of every vector is changed, and the others are made by the thousand.

/** One in so many of a byte's changes is tried: a number that meets each way to change one at places of every kind. */
const stride = 13;

for (const name of paymentProvider.options) {
  const file = readVectors(name);

  test(`${name}: no callback with one of its bytes changed is verified as another`, async (t) => {
    const judge = await makeJudge(name, givenProvider(t, name), file);
    const [first] = file.vectors;
    if (first === undefined) return t.fail();
    let changes = 0;
    for (const mutant of everyByteChanged(first)) {
      changes += 1;
      if (changes % stride !== 0) continue;
      const { problem } = await judge(mutant);
      if (problem !== null) return t.fail(problem);
    }
    return t.true(changes > 50 * stride, `${changes} changes`);
  });

  test(`${name}: no callback made up out of genuine ones is verified as another`, async (t) => {
    const judge = await makeJudge(name, givenProvider(t, name), file);
    const next = makeMutants(file, makeSeededRandom(1));
    let accepted = 0;
    for (let count = 0; count < 150; count += 1) {
      const verdict = await judge(next());
      if (verdict.problem !== null) return t.fail(verdict.problem);
      if (verdict.accepted) accepted += 1;
    }
    // Some changes change nothing that counts; most do.
    t.true(accepted < 75, `${accepted} were accepted`);
    return undefined;
  });
}

for (const name of allPlatforms) {
  test(`${name}: what is not believed calls no store, and what is believed does`, async (t) => {
    const { acknowledged, refused } = await takeMutants(t, name, { count: 60, seed: 1 });
    t.true(acknowledged > 0 && refused > 20, `${acknowledged} acknowledged, ${refused} refused`);
  });
}
