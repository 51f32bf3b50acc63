import { observeRun } from './scripts/test-report.mjs';

// scripts/test.mjs chooses the files of a run, how many run at a time, and the time in which at least one test must end.
// Tests run as compiled output, so that worker threads and child processes load the same files as in production.
export default {
  files: ['dist/test/**/*.test.js', 'dist/groups/*.test.js'],
  workerThreads: false,
  // Most of these processes live for a few seconds. The optimising compiler costs a tenth of their time and saves less.
  nodeArguments: process.env.TEST_OPTIMIZED === 'yes' ? [] : ['--no-opt'],
  timeout: '30m',
  // AVA's reporters name neither the file of a group nor, after a time-out, the files that wait.
  nonSemVerExperiments: { observeRunsFromConfig: true },
  observeRun,
};
