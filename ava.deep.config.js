// Long campaigns. Everything random in them follows from DEEP_SEED, so a failure is repeated by setting the seed it printed;
// DEEP_BUDGET multiplies how much they try (1: what CI runs).
import { randomInt } from 'node:crypto';

const DEEP_SEED = process.env.DEEP_SEED || String(randomInt(2 ** 31));
const DEEP_BUDGET = process.env.DEEP_BUDGET || '1';
console.error(`Repeat this run with DEEP_SEED=${DEEP_SEED} DEEP_BUDGET=${DEEP_BUDGET} npm run test:deep`);

export default {
  files: ['dist/test/deep/**/*.test.js'],
  workerThreads: false,
  // Most of them start processes of their own: two at a time keep two cores busy without starving each other.
  concurrency: 2,
  // How long nothing at all may finish; a campaign of several minutes is one test, and takes longer on a slow or busy machine.
  timeout: '30m',
  environmentVariables: { DEEP_SEED, DEEP_BUDGET },
};
