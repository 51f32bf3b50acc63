/* Tests the pure parts of the adapter: the meaning of errors, the stored form of bodies, and chains of versions. */
import test from 'ava';
import fc from 'fast-check';
import {
  BSON,
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

import { documentBytes } from '../../../src/event-sourcing/ports/read-model-store.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { StoreDamaged, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { makeAttempts } from '../../../src/stores/mongodb/calls/attempts.js';
import {
  decodeBody,
  decodeKey,
  encodeBody,
  encodeKey,
  makeToken,
  storedPath,
} from '../../../src/stores/mongodb/documents/body-fields.js';
import {
  AttemptTimedOut,
  classify,
  NotSent,
  type CallFailure,
} from '../../../src/stores/mongodb/calls/failures.js';
import { makeCalls } from '../../../src/stores/mongodb/calls/calls.js';
import { defaultMongoDbLimits } from '../../../src/stores/mongodb/calls/limits.js';
import { followChain, keysWith } from '../../../src/stores/mongodb/state-store.js';
import { anyText } from '../../support/examples/any-text.js';
import { canonical } from '../../support/examples/canonical.js';
import { makeSeededRandom, realClock } from '../../support/fakes/clock.js';

const systemError = (code: string, syscall: string) =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
const named = (name: string) => Object.defineProperty(new MongoNetworkError('x'), 'name', { value: name });
const handshakeError = new MongoNetworkError('connection 3 closed');
handshakeError.addErrorLabel('HandshakeError');
/** A server that never answers. */
const silent = async () => new Promise<never>(() => undefined);
const verdict = (code: number) => new MongoServerError({ ok: 0, code, codeName: 'Name', errmsg: 'secret' });

test('An error says whether the write was sent, refused, or neither', (t) => {
  const kinds: [CallFailure['kind'], unknown][] = [
    ['not-sent', new MongoServerSelectionError('no primary', {} as never)],
    ['not-sent', named('MongoWaitQueueTimeoutError')],
    ['not-sent', named('MongoPoolClearedError')],
    ['not-sent', systemError('ECONNREFUSED', 'connect')],
    ['not-sent', systemError('ENOTFOUND', 'getaddrinfo')],
    ['not-sent', new MongoNetworkError('connect', { cause: systemError('ECONNRESET', 'connect') })],
    ['not-sent', handshakeError],
    ['unknown', systemError('ECONNRESET', 'write')],
    ['unknown', systemError('EPIPE', 'write')],
    ['unknown', systemError('ECONNRESET', 'read')],
    ['unknown', new MongoNetworkError('connection 3 closed')],
    ['unknown', new MongoNetworkTimeoutError('connection 3 timed out')],
    ['unknown', new AttemptTimedOut('no answer in time')],
    ['unknown', new MongoBulkWriteError(new MongoNetworkError('x'), {} as never)],
    ['unknown', new MongoWriteConcernError({ ok: 1, writeConcernError: { code: 64, errmsg: 'x' } })],
    ['unknown', new BSON.BSONError('corrupt reply')],
    ['unknown', 'a string'],
    ['unknown', verdict(189)],
    ['unknown', verdict(10_107)],
    ['unknown', verdict(11_600)],
    // Codes that are not known as refusals.
    ['unknown', verdict(1)],
    ['unknown', verdict(8)],
    ['unknown', verdict(99_999)],
    ['not-sent', new NotSent('no free connection in time')],
    ['refused', new NotSent('more calls than connections', 'refused')],
    ['rejected', verdict(13)],
    ['rejected', verdict(18)],
    ['rejected', verdict(2)],
    ['closed', named('MongoNotConnectedError')],
    ['closed', named('MongoClientClosedError')],
    ['bug', new MongoInvalidArgumentError('x')],
    ['bug', new TypeError('x is not a function')],
  ];
  for (const [kind, error] of kinds) t.is(classify(error).kind, kind, String(error));
});

test('The reason of a verdict leaves out its message, which may quote a document', (t) => {
  t.is(classify(verdict(13)).reason, 'Name (13)');
});

test('An attempt that the end of the call cuts short leaves the reason of the attempt before it', async (t) => {
  // Given an attempt that is refused, and later ones that end with their limit, as early as a timer may fire
  const limits = { ...defaultMongoDbLimits, readMs: 1_000 };
  const attempt = makeAttempts({ poolSize: 9, permitWaitMs: 100, silenceMs: 100 });
  const cut = await t.throwsAsync(attempt(silent, { ms: 100, deadlineMs: performance.now() + 1 }));
  const whole = await t.throwsAsync(attempt(silent, { ms: 1, deadlineMs: performance.now() + 100 }));
  const reasonAfter = async (last: Error): Promise<string> => {
    const errors = [systemError('ECONNREFUSED', 'connect'), last];
    const calls = makeCalls({
      ...{ clock: realClock, random: () => 0, limits },
      attempt: async () => Promise.reject(errors.shift() ?? last),
    });
    const error = await t.throwsAsync(calls.read('the test', silent), { instanceOf: StoreUnavailable });
    return error.message;
  };
  // Then the error names the first reason, unless a whole attempt had no answer
  t.regex(await reasonAfter(cut), /ECONNREFUSED/);
  t.regex(await reasonAfter(whole), /no answer in time/);
});

/** Makes JSON objects that often contain keys with a meaning to MongoDB, its driver or JavaScript. */
const { body } = fc.letrec<{ body: JsonObject; value: unknown }>((tie) => ({
  body: fc.dictionary(
    fc.oneof(
      fc.constantFrom(
        'a.b',
        '$x',
        '__proto__',
        '_bsontype',
        '$ref',
        '$id',
        '',
        '%',
        '%2E',
        '%5F_proto__',
        '\0',
        'a',
      ),
      anyText(),
    ),
    tie('value'),
    { maxKeys: 6 },
  ) as fc.Arbitrary<JsonObject>,
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    fc.integer(),
    anyText(),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('body'),
  ),
}));

test('A body reads back unchanged through BSON', (t) => {
  fc.assert(
    fc.property(body, (original) => {
      const bytes = BSON.serialize({ body: encodeBody(original) }, { ignoreUndefined: true });
      const stored: unknown = BSON.deserialize(bytes, { useBigInt64: true })['body'];
      t.is(canonical(decodeBody(Object(stored) as object)), canonical(original));
    }),
    { numRuns: 400, seed: 11 },
  );
});

test('Stored keys contain no dot, dollar or NUL, and no name that is special to the driver or JavaScript', (t) => {
  fc.assert(
    fc.property(anyText(), (key) => {
      t.notRegex(encodeKey(key), /[.$\0]|^$|^__proto__$|^_bsontype$/);
      t.is(decodeKey(encodeKey(key)), key);
    }),
    { numRuns: 400, seed: 12, examples: [['__proto__'], ['_bsontype'], [''], ['%'], ['%25'], ['%2E']] },
  );
});

test('Ordinary keys and index paths are stored unchanged', (t) => {
  t.is(encodeKey('user_id'), 'user_id');
  t.is(storedPath('members.user_id'), 'body.members.user_id');
});

test('The size of a body is that of its BSON, or a little more', (t) => {
  fc.assert(
    fc.property(body, (original) => {
      const encoded = encodeBody(original) as JsonObject;
      const counted = documentBytes(encoded);
      const stored = BSON.calculateObjectSize(encoded);
      // A whole number takes 4 or 8 bytes.
      t.true(counted >= stored && counted <= 2 * stored, `${counted} ${stored}`);
    }),
    { numRuns: 400, seed: 14 },
  );
});

test('A stored value that is not JSON is damage', (t) => {
  for (const value of [1n, new Date(0), new BSON.ObjectId(), new BSON.Binary(), undefined])
    t.throws(() => decodeBody({ list: [value] }), { instanceOf: StoreDamaged });
});

test('A token has 96 bits of the injected randomness', (t) => {
  const random = makeSeededRandom(1);
  const tokens = new Set(Array.from({ length: 1000 }, () => makeToken(random)));
  t.is(tokens.size, 1000);
  t.true([...tokens].every((token) => /^[0-9a-f]{24}$/.test(token)));
});

test('The range of a prefix contains the keys that begin with it, and no other', (t) => {
  t.deepEqual(keysWith('kind/'), { $gte: 'kind/', $lt: 'kind0' });
  t.deepEqual(keysWith(''), { $gte: '' });
  t.deepEqual(keysWith('\u{d7ff}'), { $gte: '\u{d7ff}', $lt: '\u{e000}' });
  t.deepEqual(keysWith('a\u{10ffff}\u{10ffff}'), { $gte: 'a\u{10ffff}\u{10ffff}', $lt: 'b' });
  t.deepEqual(keysWith('\u{10ffff}'), { $gte: '\u{10ffff}' });
  const bytes = (text: string) => Buffer.from(text);
  const character = fc.constantFrom(
    'a',
    'b',
    '/',
    '\u{7f}',
    '\u{7ff}',
    '\u{d7ff}',
    '\u{ffff}',
    '\u{10000}',
    '\u{10ffff}',
  );
  const text = fc.string({ unit: character, maxLength: 4 });
  fc.assert(
    fc.property(text, text, (prefix, key) => {
      const { $gte: from, $lt: to } = keysWith(prefix);
      const isInRange =
        Buffer.compare(bytes(key), bytes(from)) >= 0 &&
        (to === undefined || Buffer.compare(bytes(key), bytes(to)) < 0);
      t.is(isInRange, key.startsWith(prefix), `${prefix} ${key}`);
    }),
    { numRuns: 500, seed: 13 },
  );
});

const absent = { version: null, replaced: undefined, live: false };
const record = (version: string, replaced: string | null, live = true) => ({ version, replaced, live });

test('The end of the chain shows the outcome of a compare-and-set', (t) => {
  const over = (expected: string | null, pinned: string | null, uncertain: boolean) => ({
    version: 'mine',
    expected,
    over: pinned,
    uncertain,
  });
  for (const uncertain of [false, true]) {
    t.deepEqual(followChain(over('x', 'x', uncertain), record('mine', 'x')), { settled: 'mine' });
    t.deepEqual(followChain(over('x', 'x', uncertain), record('next', 'mine')), { settled: 'mine' });
    t.deepEqual(followChain(over('x', 'x', uncertain), record('other', 'x')), { settled: null });
    t.deepEqual(followChain(over('x', 'x', uncertain), record('x', 'w')), { sendOver: 'x' });
    t.deepEqual(followChain(over(null, null, uncertain), absent), { sendOver: null });
    t.deepEqual(followChain(over(null, null, uncertain), record('other', null)), { settled: null });
    t.deepEqual(followChain(over(null, null, uncertain), record('dead', null, false)), { sendOver: 'dead' });
    t.deepEqual(followChain(over(null, 'dead', uncertain), record('dead', null, false)), {
      sendOver: 'dead',
    });
    t.deepEqual(followChain(over(null, 'dead', uncertain), record('other', 'dead')), { settled: null });
  }
  t.deepEqual(followChain(over('x', 'x', false), record('far', 'further')), { settled: null });
  t.is(followChain(over('x', 'x', true), record('far', 'further')), 'unknowable');
  t.deepEqual(followChain(over('x', 'x', false), absent), { settled: null });
  t.is(followChain(over('x', 'x', true), absent), 'unknowable');
  t.deepEqual(followChain(over('x', 'x', false), record('x', 'w', false)), { settled: null });
  t.is(followChain(over('x', 'x', true), record('x', 'w', false)), 'unknowable');
});
