// Suites against the real servers of MONGODB_URL, EVENTSTOREDB_URL and S3_ENDPOINT. A suite without its server reports
// that by name. SERVER_SUITES chooses a pass of scripts/run-server-suites.mjs; without it all suites run, one after the other.
const pass = process.env.SERVER_SUITES;
const suites = 'dist/test/servers/**/*.test.js';

/** Suites that compare times, or count on an answer within a second. Another suite beside them would change what they see. */
const measuring = ['blips', 'many-processes', 'mongodb-faults', 'mongodb-load', 'start'].map(
  (name) => `dist/test/servers/${name}.test.js`,
);

export default {
  files:
    pass === 'measuring'
      ? measuring
      : pass === 'others'
        ? [suites, ...measuring.map((file) => `!${file}`)]
        : [suites],
  workerThreads: false,
  // The other suites mostly wait, for limits of time and for processes that start.
  concurrency: pass === 'others' ? 2 : 1,
  timeout: '5m',
};
