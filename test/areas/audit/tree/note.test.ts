import test from 'ava';

import {
  checkpointText,
  isSignedBy,
  makeNoteSigner,
  noteOf,
  parseCheckpointText,
  parseNote,
  parseVkey,
} from '../../../../src/areas/audit/tree/note.js';

const root = Buffer.alloc(32, 7);
const given = { origin: 'stowage/log-1', size: 1_000, root };
const text = checkpointText(given);
const signer = makeNoteSigner('stowage/log-1', Buffer.alloc(32, 1));

/** The example of `golang.org/x/mod/sumdb/note`. */
const exampleVkey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';

test('A signed checkpoint is verified by the public key of its signer', (t) => {
  const note = parseNote(noteOf(text, [signer.sign(text)]));
  const verifier = parseVkey(signer.vkey);
  t.truthy(note);
  t.truthy(verifier);
  if (note === null || verifier === null) return;
  t.is(note.text, text);
  t.deepEqual(parseCheckpointText(note.text), given);
  const [signature] = note.signatures;
  t.true(signature !== undefined && isSignedBy(verifier, text, signature));
  t.false(signature !== undefined && isSignedBy(verifier, text.replace('1000', '1001'), signature));
  const other = parseVkey(makeNoteSigner('stowage/log-1', Buffer.alloc(32, 2)).vkey);
  t.false(other === null || signature === undefined || isSignedBy(other, text, signature));
});

test('A public key whose id is not that of its name and key is refused', (t) => {
  t.not(parseVkey(signer.vkey), null);
  t.not(parseVkey(exampleVkey), null);
  t.is(parseVkey(signer.vkey.replace('log-1', 'log-2')), null);
  t.is(parseVkey(`${signer.vkey}x`), null);
  t.is(parseVkey(''), null);
  t.is(parseVkey(exampleVkey.replace('c74f20a3', 'c74f20a4')), null);
});

test('A text that is no checkpoint is refused', (t) => {
  for (const bad of [
    '',
    'a\n',
    text.slice(0, -1),
    text.replace('1000', '01000'),
    `${text}more\n`,
    text.replace('1000', '-1'),
  ]) {
    t.is(parseCheckpointText(bad), null, bad);
  }
});

test('A note without signatures, with a broken line or without a line end is refused', (t) => {
  const note = noteOf(text, [signer.sign(text)]);
  t.not(parseNote(note), null);
  for (const bad of [
    '',
    text,
    `${text}\n`,
    note.slice(0, -1),
    note.replace('— ', '- '),
    `${note}junk\n`,
    note.replace(/=\n$/, '\n'),
  ]) {
    t.is(parseNote(bad), null, bad);
  }
});
