import test from 'ava';
import { paymentProvider } from '../../../src/domain/payment.js';
import { makeSeededRandom } from '../../support/clock.js';
import { allPlatforms, takeMutants } from '../../support/refused-callbacks.js';
import { everyByteChanged, makeJudge, makeMutants } from './callback-mutants.js';
import { givenProvider, readVectors } from './vectors.js';

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
