import test from 'ava';
import {
  type NamedRevisions,
  requireRevision,
} from '../../../src/event-sourcing/deciding/command-handler.js';

const rows: readonly [NamedRevisions | undefined, bigint | null, RegExp | null][] = [
  [undefined, 3n, null],
  [3n, 3n, null],
  [[1n, 3n], 3n, null],
  [[1n, 2n], 3n, /has changed since/],
  [[1n, 9n], 3n, /has changed since/],
  [[9n], 3n, /names no revision/],
  [[], 3n, /names no revision/],
  [[0n], null, /names no revision/],
];

test('A refused revision is said to be old only when it is', (t) => {
  for (const [expected, revision, message] of rows) {
    const require = () => requireRevision(expected, revision);
    if (message === null) t.notThrows(require);
    else t.throws(require, { message });
  }
});
