import { PassThrough } from 'node:stream';
import test from 'ava';
import { unlessConfirmed } from '../../src/cli/terminal.js';

const texts = { question: 'Erase it?', does: 'erases it', nothing: 'nothing was erased' };

test('A question whose input ends without an answer changes nothing', async (t) => {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const asked = unlessConfirmed(texts, input);
  input.end();
  t.deepEqual(await asked, { ok: false, code: 'not_confirmed', message: 'nothing was erased' });
});

test('A question is answered by yes alone', async (t) => {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const asked = unlessConfirmed(texts, input);
  input.write('yes\n');
  t.is(await asked, null);
});
