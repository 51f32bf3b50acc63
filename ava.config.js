// Tests run as compiled output, so that worker threads and child processes load the very files they load in production.
export default {
  files: ['dist/test/**/*.test.js', '!dist/test/deep/**', '!dist/test/servers/**'],
  workerThreads: false,
  timeout: '60s',
};
