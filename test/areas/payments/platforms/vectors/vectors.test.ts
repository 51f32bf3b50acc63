import { createHash } from 'node:crypto';
import test from 'ava';
import {
  paymentProvider,
  type PaymentProviderName,
} from '../../../../../src/areas/payments/domain/payment.js';
import { makeSeededRandom } from '../../../../support/fakes/clock.js';
import { allPlatforms, takeMutants } from '../../../../support/examples/refused-callbacks.js';
import { personal } from '../messages/messages.js';
import { asCallback, givenProvider, messagesOf, readVectors, verifiedBy } from './vectors.js';
import { everyByteChanged, makeJudge, makeMutants } from '../messages/callback-mutants.js';

/** SHA-256 of the digests of all genuine callbacks, one after the other, as events hold them. */
const digestsOf: Readonly<Record<PaymentProviderName, string>> = {
  stripe: '0f1d520ab9d05cbba1ce3108aa5e5c4cbc16b565d6f085ee9eb6990fa44bf1f9',
  wechatpay: '958a9e1b87c928ff7f8336f6fd60342d461f368b11be29818a0a8fe6f032ef0e',
  alipay: 'd6e51823047c86faa0584ebc1415e47108c1b98e742c88e02617a8e761f2173a',
  paypal: '3f8f86c68337fb125e3da87957f9e9cdc06914fe56f67caa4dec211493bb1b07',
  standard: '37062e6cc70c896f61d4c983265fcbfc33557e4afbcbb0c81465ffa12f149d99',
  epay: '07b6059ede13d5cca26ad1517b8ae6f6b5f1ecc4d6a76ed93a47a7bc43a43752',
};

for (const name of paymentProvider.options) {
  const { vectors, again, negatives, unavailable } = readVectors(name);
  const messages = messagesOf[name];

  test(`All ${vectors.length} genuine callbacks of ${name} have their expected content`, async (t) => {
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
    const provider = givenProvider(t, name);
    const digests = createHash('sha256');
    for (const vector of [...vectors, ...again]) {
      digests.update((await verifiedBy(provider, asCallback(vector))).digest);
    }
    t.is(digests.digest('hex'), digestsOf[name]);
  });

  test(`The same message of ${name} in ${again.length} other forms is the same callback`, async (t) => {
    const provider = givenProvider(t, name);
    const [first, second] = vectors;
    // The second message of Standard Webhooks is the payment.
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

  test(`All ${negatives.length} wrong callbacks of ${name} are refused, each for its reason`, async (t) => {
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

// A part of the tests in test/deep. There, every byte of every vector changes, and thousands of mutants are made.

/** The stride through a byte's changes. The number meets each kind of change at places of every kind. */
const stride = 13;

for (const name of paymentProvider.options) {
  const file = readVectors(name);

  test(`No callback of ${name} with one changed byte is verified as another`, async (t) => {
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

  test(`No callback that is made from genuine ones of ${name} is verified as another`, async (t) => {
    const judge = await makeJudge(name, givenProvider(t, name), file);
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
