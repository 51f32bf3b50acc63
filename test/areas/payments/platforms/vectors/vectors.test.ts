import { createHash } from 'node:crypto';
import test from 'ava';
import { paymentProvider } from '../../../../../src/areas/payments/domain/payment.js';
import { makeSeededRandom } from '../../../../support/fakes/clock.js';
import { allPlatforms, takeMutants } from '../../../../support/examples/refused-callbacks.js';
import { personal } from '../messages/messages.js';
import { asCallback, givenProvider, platformUnderTest, readVectors, verifiedBy } from './vectors.js';
import { everyByteChanged, makeJudge, makeMutants } from '../messages/callback-mutants.js';
import { pluck } from '../../../../support/given/pluck.js';

for (const name of paymentProvider.options) {
  const { vectors, again, negatives, unavailable } = readVectors(name);

  test(`All ${vectors.length} genuine callbacks of ${name} have their expected content`, async (t) => {
    const provider = await givenProvider(t, name);
    const { messages } = await platformUnderTest(name);
    t.deepEqual(
      pluck(vectors, 'title'),
      messages.map(({ title }) => title),
    );
    for (const [index, { title, key, isOurs = true, told }] of messages.entries()) {
      const vector = vectors[index];
      if (vector === undefined) return t.fail();
      const verified = await verifiedBy(provider, asCallback(vector));
      t.is(verified.key, key, title);
      t.is(verified.isOurs, isOurs, title);
      t.deepEqual(
        verified.notifications.map(({ order_number, transaction_id, fact }) => ({
          order_number,
          transaction_id,
          fact,
        })),
        told,
        title,
      );
      t.false(JSON.stringify(verified).includes(personal), `${title}: personal data`);
    }
    return undefined;
  });

  test(`Callbacks of ${name} have the digests that are stored, so that a repeated delivery is no conflict`, async (t) => {
    const provider = await givenProvider(t, name);
    const digests = createHash('sha256');
    for (const vector of [...vectors, ...again]) {
      digests.update((await verifiedBy(provider, asCallback(vector))).digest);
    }
    t.is(digests.digest('hex'), (await platformUnderTest(name)).digest);
  });

  test(`The same message of ${name} in ${again.length} other forms is the same callback`, async (t) => {
    const provider = await givenProvider(t, name);
    const base = vectors[(await platformUnderTest(name)).repeated ?? 0];
    if (base === undefined) return t.fail();
    const expected = await verifiedBy(provider, asCallback(base));
    for (const vector of again) {
      const verified = await verifiedBy(provider, asCallback(vector));
      t.like(verified, { key: expected.key, isOurs: true, digest: verified.digest }, vector.title);
      if (!vector.title.includes('empty')) t.is(verified.digest, expected.digest, vector.title);
    }
    return undefined;
  });

  test(`All ${negatives.length} wrong callbacks of ${name} are refused, each for its reason`, async (t) => {
    const provider = await givenProvider(t, name);
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

// A part of the tests in test/deep. There, every byte of every vector changes, and thousands of mutants are made.

/** The stride through a byte's changes. The number meets each kind of change at places of every kind. */
const stride = 13;

for (const name of paymentProvider.options) {
  const file = readVectors(name);

  test(`No callback of ${name} with one changed byte is verified as another`, async (t) => {
    const judge = await makeJudge(name, await givenProvider(t, name), file);
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

  test(`No callback that is made from genuine ones of ${name} is verified as another`, async (t) => {
    const judge = await makeJudge(name, await givenProvider(t, name), file);
    const next = makeMutants(file, makeSeededRandom(1));
    let accepted = 0;
    for (let count = 0; count < 150; count += 1) {
      const verdict = await judge(next());
      if (verdict.problem !== null) return t.fail(verdict.problem);
      if (verdict.accepted) accepted += 1;
    }
    // Some changes do not count, but most do.
    t.true(accepted < 75, `${accepted} were accepted`);
    return undefined;
  });
}

for (const name of allPlatforms) {
  test(`A refused callback of ${name} calls no store, and an accepted one does`, async (t) => {
    const { acknowledged, refused } = await takeMutants(t, name, { count: 60, seed: 1 });
    t.true(acknowledged > 0 && refused > 20, `${acknowledged} acknowledged, ${refused} refused`);
  });
}
