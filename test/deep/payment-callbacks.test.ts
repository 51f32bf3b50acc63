import test from 'ava';
import { paymentProvider } from '../../src/areas/payments/domain/payment.js';
import {
  everyByteChanged,
  makeJudge,
  makeMutants,
} from '../areas/payments/platforms/messages/callback-mutants.js';
import { givenProvider, readVectors } from '../areas/payments/platforms/vectors/vectors.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { takeMutants } from '../support/examples/refused-callbacks.js';

/*
 * These callbacks are mutants of genuine ones. No verifier may accept one as a callback that was never sent, throw or
 * take long. DEEP_SEED=<printed> replays a campaign. DEEP_BUDGET multiplies it.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const mutants = Math.ceil(20_000 * budget);
const slowestMs = 500;

for (const name of paymentProvider.options) {
  const file = readVectors(name);

  test.serial(
    `The verifier of ${name} accepts none of ${mutants} mutated callbacks as another one`,
    async (t) => {
      const judge = await makeJudge(name, await givenProvider(t, name), file);
      const next = makeMutants(file, makeSeededRandom(seed));
      const seen: Record<string, { tried: number; accepted: number }> = {};
      let slowest = 0;
      for (let count = 0; count < mutants; count += 1) {
        const mutant = next();
        const first = await measured(() => judge(mutant));
        const { accepted, problem } = first.result;
        let { cpuMs } = first;
        // The garbage collector or the compiler may have run meanwhile. A slow callback is slow again.
        for (let again = 0; again < 4 && cpuMs >= slowestMs; again += 1) {
          cpuMs = Math.min(cpuMs, (await measured(() => judge(mutant))).cpuMs);
        }
        slowest = Math.max(slowest, cpuMs);
        if (problem !== null) return t.fail(`DEEP_SEED=${seed}, mutant ${count}: ${problem}`);
        const one = (seen[mutant.attack] ??= { tried: 0, accepted: 0 });
        one.tried += 1;
        if (accepted) one.accepted += 1;
      }
      t.log(`DEEP_SEED=${seed}, slowest ${slowest.toFixed(1)} ms of CPU`, seen);
      t.true(slowest < slowestMs, `one took ${slowest} ms`);
      return undefined;
    },
  );

  test.serial(`A refused one of ${mutants} mutated callbacks of ${name} calls no store`, async (t) => {
    t.log(await takeMutants(t, name, { count: mutants, seed }));
    t.pass();
  });

  test.serial(
    `The verifier of ${name} accepts no callback with one changed byte as another one`,
    async (t) => {
      const judge = await makeJudge(name, await givenProvider(t, name), file);
      let tried = 0;
      let accepted = 0;
      for (const vector of [...file.vectors, ...file.again]) {
        for (const mutant of everyByteChanged(vector)) {
          const verdict = await judge(mutant);
          if (verdict.problem !== null) return t.fail(verdict.problem);
          tried += 1;
          if (verdict.accepted) accepted += 1;
        }
      }
      t.log(`${tried} tried, ${accepted} meant the same`);
      t.true(tried > 10_000);
      return undefined;
    },
  );
}

/** Returns the processor time of the work in milliseconds. */
async function measured<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly cpuMs: number; readonly result: Result }> {
  const startedAt = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(startedAt);
  return { cpuMs: (user + system) / 1_000, result };
}
