import { availableParallelism } from 'node:os';

// Tests run as compiled output, so that worker threads and child processes load the very files they load in production.
export default {
  files: ['dist/test/**/*.test.js', '!dist/test/deep/**', '!dist/test/servers/**'],
  workerThreads: false,
  // Each of these processes lives for a few seconds: what the optimising compiler costs is a tenth of their time, and it gives back less.
  nodeArguments: ['--no-opt'],
  // AVA's own default counts cores that this process may not use, and two in CI; one file more than cores fills their waits.
  concurrency: availableParallelism() + 1,
  // How long nothing at all may finish: on a slow or busy machine a service takes long to start, and that is no failure.
  timeout: '2m',
};
