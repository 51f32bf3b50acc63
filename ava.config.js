import { availableParallelism } from 'node:os';

// Tests run as compiled output, so that worker threads and child processes load the same files as in production.
export default {
  files: ['dist/test/**/*.test.js', '!dist/test/deep/**', '!dist/test/servers/**'],
  workerThreads: false,
  // Each of these processes lives for a few seconds. The optimising compiler costs a tenth of their time and saves
  // less.
  nodeArguments: ['--no-opt'],
  // AVA's default counts cores that this process may not use, and is 2 in CI. One file more than there are cores uses
  // the waits.
  concurrency: availableParallelism() + 1,
  // The time in which at least one test must finish. A service starts slowly on a slow or busy machine, which is no
  // failure.
  timeout: '2m',
};
