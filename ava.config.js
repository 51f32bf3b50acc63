import { relative } from 'node:path';
import { observeRun } from './scripts/test-report.mjs';

const rankOf = (file) => process.argv.indexOf(relative(process.cwd(), file));

// scripts/test.mjs chooses the files of a run, how many run at a time, and the time in which at least one test must end.
// Tests run as compiled output, so that worker threads and child processes load the same files as in production.
export default {
  files: ['dist/test/**/*.test.js', 'dist/groups/*.test.js'],
  // Files run in the order in which the command names them.
  sortTestFiles: (one, other) => rankOf(one) - rankOf(other),
  workerThreads: false,
  // Tests make much garbage that dies young. A large young generation takes a twentieth of their CPU away.
  nodeArguments: ['--max-semi-space-size=64'],
  require: ['./scripts/end-test-process.mjs'],
  timeout: '30m',
  // AVA's reporters name neither the file of a group nor, after a time-out, the files that wait.
  nonSemVerExperiments: { observeRunsFromConfig: true },
  observeRun,
};
