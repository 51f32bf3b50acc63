// The first import of each group. AVA begins all tests of a process at once. Each would then wait for all others, so that limits of
// time end what is tested, and the memory of all would be held until the end.
import test from 'ava';

const atOnce = 8;
const waiting = [];
let running = 0;

test.beforeEach('The test waits for its turn', () => {
  if (running >= atOnce) return new Promise((resolve) => waiting.push(resolve));
  running += 1;
  return undefined;
});

test.afterEach.always('The next test has its turn', () => {
  const next = waiting.shift();
  if (next === undefined) running -= 1;
  else next();
});
