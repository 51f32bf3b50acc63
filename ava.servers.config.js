// Suites against the real servers of MONGODB_URL, EVENTSTOREDB_URL and S3_ENDPOINT. A suite without its server reports
// that by name.
export default {
  files: ['dist/test/servers/**/*.test.js'],
  workerThreads: false,
  // The suites share a server and measure how long its calls take.
  concurrency: 1,
  timeout: '5m',
};
