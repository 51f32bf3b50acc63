import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { isExplained } from '../../src/cli/exit-codes.js';
import { UndecodableEvent } from '../../src/event-sourcing/ports/errors.js';
import { givenDirectory } from '../support/directories.js';

test('The refusal of a path by the system and an event of another release end a command with a sentence', (t) => {
  const file = join(givenDirectory(t), 'file');
  writeFileSync(file, '');
  const refused = t.throws(() => mkdirSync(join(file, 'folder')), { code: 'ENOTDIR' });
  t.true(isExplained(refused));
  // A write and a server that fail name no path.
  const descriptor = openSync(file, 'r');
  const unwritten = t.throws(() => writeSync(descriptor, 'x'), { code: 'EBADF' });
  t.true(isExplained(unwritten));
  closeSync(descriptor);
  t.true(isExplained(new UndecodableEvent('event type OrderFramed is unknown to this version')));
  t.false(isExplained(new TypeError('a defect')));
});
