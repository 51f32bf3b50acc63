// Long campaigns. All their randomness follows from DEEP_SEED, so the printed seed repeats a failure. DEEP_BUDGET
// multiplies the number of attempts (CI uses 1).
import { createHash, randomInt } from 'node:crypto';

const DEEP_SEED = process.env.DEEP_SEED || String(randomInt(2 ** 31));
const DEEP_BUDGET = process.env.DEEP_BUDGET || '1';
console.error(`Repeat this run with DEEP_SEED=${DEEP_SEED} DEEP_BUDGET=${DEEP_BUDGET} npm run test:deep`);

/** The place of a file in the order of this seed. A slow machine has no time for all files, and other seeds begin with others. */
const place = (file) =>
  createHash('sha256')
    .update(`${DEEP_SEED} ${file.split('/').at(-1)}`)
    .digest('hex');

export default {
  sortTestFiles: (a, b) => (place(a) < place(b) ? -1 : 1),
  files: ['dist/test/deep/**/*.test.js'],
  workerThreads: false,
  // Most campaigns start separate processes. Two at a time keep two cores busy without starving each other.
  concurrency: 2,
  // The time in which at least one test must finish. A campaign of several minutes is one test, and a slow or busy
  // machine needs longer.
  timeout: '30m',
  environmentVariables: { DEEP_SEED, DEEP_BUDGET },
};
