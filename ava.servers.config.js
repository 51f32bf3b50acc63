// Suites against real servers, given by MONGODB_URL, EVENTSTOREDB_URL and S3_ENDPOINT; one whose server is missing says so by name.
export default {
  files: ['dist/test/servers/**/*.test.js'],
  workerThreads: false,
  // The suites share a server and measure how long its calls take to end.
  concurrency: 1,
  timeout: '5m',
};
