import test from 'ava';
import { paymentProvider } from '../../../src/domain/payment.js';
import { makeSeededRandom } from '../../support/clock.js';
import { everyByteChanged, makeJudge, makeMutants } from './callback-mutants.js';
import { givenProvider, readVectors } from './vectors.js';

for (const name of paymentProvider.options) {
  const file = readVectors(name);

  test(`${name}: no callback with any of its bytes changed is verified as another`, async (t) => {
    const judge = await makeJudge(name, givenProvider(t, name), file);
    const [first] = file.vectors;
    if (first === undefined) return t.fail();
    for (const mutant of everyByteChanged(first)) {
      const { problem } = await judge(mutant);
      if (problem !== null) return t.fail(problem);
    }
    return t.pass();
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
