import test from 'ava';
import canonicalize from 'canonicalize';
import fc from 'fast-check';

import { canonicalJson, NotCanonical } from '../../../../src/areas/audit/tree/canonical-json.js';
import type { JsonValue } from '../../../../src/event-sourcing/ports/domain-event.js';

/** Text of whole characters: fast-check's `grapheme` unit contains no half of a surrogate pair. */
const text = fc.string({ unit: 'grapheme' });

test('The canonical form equals that of another implementation', (t) => {
  const value = fc.jsonValue({ maxDepth: 4, noUnicodeString: false, stringUnit: 'grapheme' });
  fc.assert(
    fc.property(value, (given) => canonicalJson(given as JsonValue) === canonicalize(given)),
    { seed: 16, numRuns: 2_000 },
  );
  t.pass();
});

test('The canonical form does not depend on the order of the keys', (t) => {
  fc.assert(
    fc.property(fc.dictionary(text, fc.integer(), { maxKeys: 20 }), (given) => {
      const turned = Object.fromEntries(Object.entries(given).reverse());
      return canonicalJson(turned) === canonicalJson(given);
    }),
    { seed: 17, numRuns: 500 },
  );
  t.pass();
});

test('Keys sort by UTF-16 code units, as the example of RFC 8785 does', (t) => {
  const given = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 };
  t.is(canonicalJson(given), '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}');
});

test('Numbers have the form of ECMAScript', (t) => {
  t.is(
    canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0]),
    '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
  );
});

test('Half a surrogate pair has no canonical form, in a value or in a key', (t) => {
  for (const given of ['\ud83d', 'a\ude00b', { '\ud83d': 1 }, [['\udfff']]]) {
    t.throws(() => canonicalJson(given), { instanceOf: NotCanonical });
  }
  t.is(canonicalJson('\u{1f600}'), '"\u{1f600}"');
});

test('A value of more than 100 levels has no canonical form', (t) => {
  const nested = (levels: number): JsonValue => (levels === 0 ? 1 : [nested(levels - 1)]);
  t.is(canonicalJson(nested(100)).length, 201);
  t.throws(() => canonicalJson(nested(101)), { instanceOf: NotCanonical });
});
