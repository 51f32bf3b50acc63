import config from './ava.config.js';

// All tests, several files in a process: the files that scripts/group-tests.mjs has written.
export default { ...config, files: ['dist/groups/*.test.js'] };
