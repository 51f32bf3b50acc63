import test from 'ava';

import type { SignedRecord } from '../../../../src/areas/audit/signing/audit-records.js';
import { makeNoteSigner, parseVkey } from '../../../../src/areas/audit/tree/note.js';
import { makeWitnesses, type PostText } from '../../../../src/areas/audit/signing/witnesses.js';
import { auditSeed } from '../../../support/audit/audit-scene.js';

/** Offers a checkpoint of 60 events to a witness with the given replies. `known` is the size that it has cosigned for us. */
async function offer(replies: readonly (readonly [number, string])[], known = 0) {
  const asked: string[] = [];
  const left = [...replies];
  const post: PostText = (_, body) => {
    asked.push(body.split('\n')[0] ?? '');
    const [status, text] = left.shift() ?? [500, ''];
    return Promise.resolve({ status, body: text });
  };
  const verifier = parseVkey(makeNoteSigner('witness.example', auditSeed).vkey);
  if (verifier === null) throw new Error('no key');
  let nowMs = 0;
  const answered = new Set<string>();
  const witnesses = makeWitnesses({
    answered,
    witnesses: [{ verifier, url: 'https://witness.example' }],
    tree: { consistency: () => Promise.resolve([]) },
    post,
    clock: { steadyMs: () => nowMs },
  });
  const signed: SignedRecord = {
    ...{ origin: 'log', former_origins: [], size: 60, root: '', note: 'log\n60\nroot\n\n— log AAAAAAA=\n' },
    ...{ signed_at: '2026-01-02T03:04:05.000Z' },
    cosignatures: known === 0 ? {} : { 'witness.example': { line: '', size: known } },
  };
  const found: (string | null)[] = [];
  const isAhead: (boolean | undefined)[] = [];
  while (left.length > 0) {
    await witnesses.offer(signed);
    found.push(witnesses.statuses()[0]?.found ?? null);
    isAhead.push(witnesses.statuses()[0]?.isAhead);
    nowMs += 20_000;
  }
  return { asked, found, isAhead, hasAnswered: answered.size > 0 };
}

test('A witness that answers 409 without a size to a checkpoint of its size has cosigned another root', async (t) => {
  const { asked, found } = await offer([
    [409, '60\n'],
    [409, ''],
  ]);
  t.deepEqual(asked, ['old 0', 'old 60']);
  t.deepEqual(found, ['the witness witness.example has cosigned another root of 60 events']);
});

test('A witness that answers 409 with the size that it was asked about has cosigned another root', async (t) => {
  const { asked, found } = await offer([[409, '60\n']], 60);
  t.deepEqual(asked, ['old 60']);
  t.regex(found[0] ?? '', /another root of 60 events/);
});

test('A 409 without a size to an older size, and other statuses, are no contradiction', async (t) => {
  const { found } = await offer([
    [409, ''],
    [409, 'not a size'],
    [400, ''],
    [403, ''],
    [404, ''],
    [429, ''],
    [500, ''],
  ]);
  t.deepEqual(new Set(found), new Set([null]));
});

test('A larger size of a witness is a contradiction after a while, and a refused proof at once', async (t) => {
  const ahead = await offer([
    [409, '61\n'],
    [409, '61\n'],
  ]);
  t.deepEqual(ahead.found, [
    null,
    'the witness witness.example has cosigned 61 events, and the last checkpoint has 60',
  ]);
  t.deepEqual(ahead.isAhead, [true, false]);
  // An error between the two replies begins the time again.
  const broken = await offer([
    [409, '61\n'],
    [500, ''],
    [409, '61\n'],
  ]);
  t.deepEqual(broken.found, [null, null, null]);
  const refused = await offer([[422, '']], 30);
  t.deepEqual(refused.asked, ['old 30']);
  t.regex(refused.found[0] ?? '', /refuses the consistency proof to 60 events/);
});

for (const [status, hasAnswered] of [
  [400, true],
  [403, true],
  [404, true],
  [408, false],
  [425, false],
  [429, false],
  [302, false],
  [500, false],
  [503, false],
] as const) {
  test(`The status ${status} of a witness is ${hasAnswered ? 'an' : 'no'} answer`, async (t) => {
    t.is((await offer([[status, '']])).hasAnswered, hasAnswered);
  });
}
