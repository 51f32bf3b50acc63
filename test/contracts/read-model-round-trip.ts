import type { TestFn } from 'ava';

import type { JsonObject, JsonValue } from '../../src/event-sourcing/ports/domain-event.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import { canonical } from '../support/examples/canonical.js';
import { wholeFold, type MakeReadModelStore } from '../support/clients/document-writes.js';

const view = 'users@1.1';

/** Keys that have a meaning to a database, a driver or JavaScript. */
const oddKeys = [
  'a.b', '.', '$x', '$set', '$ref', '$id', '$db', '__proto__', 'constructor', 'prototype', 'toJSON', 'toBSON', 'toString',
  '_bsontype', '_id', 'id', 'revision', 'length', '', ' ', '0', '10', '%', '%2E', '%24x', "it's", '"', '\\', '\n',
  '\u0000', 'a\u0000b', 'é', 'é'.normalize('NFD'), '日本', '😀',
]; // prettier-ignore

const values: readonly JsonValue[] = [
  null, true, false, '', 'text', '5', '$ne', '\u0000', 'a\u0000b', '😀', '\u2028', 'é'.normalize('NFD'), "Robert'); --",
  0, -1, 1.5, 0.1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 53, 1e21, 1.7976931348623157e308, 5e-324,
  [], {}, [[]], [{}], [null], { a: null }, [[1, [2, [3]]]], { a: { b: { c: [] } } }, '2026-01-01T00:00:00.000Z', 'x'.repeat(200_000),
]; // prettier-ignore

/** Tests that bodies and record values read back exactly as they were written. */
export function readModelRoundTripContract(test: TestFn, makeStore: MakeReadModelStore): void {
  test.serial('Every JSON value reads back unchanged', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    await store.write(
      view,
      values.map((value, n) => wholeFold(`v${n}`, 0n, { value, nested: { list: [value, { value }] } })),
    );
    forget(store);
    for (const [n, value] of values.entries()) {
      const body = (await store.get(view, `v${n}`))?.body ?? null;
      t.is(canonical(body), canonical({ value, nested: { list: [value, { value }] } }));
    }
  });

  test.serial('Every key reads back unchanged, alone and with the others, at any depth', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    const bodies = [...oddKeys.map((key) => [key]), oddKeys].map((keys) => {
      const inner = objectOf(keys, 'x');
      return objectOf(keys, { inner, list: [inner, [inner]] });
    });
    await store.write(
      view,
      bodies.map((body, n) => wholeFold(`k${n}`, 0n, body)),
    );
    forget(store);
    for (const [n, body] of bodies.entries())
      t.is(canonical((await store.get(view, `k${n}`))?.body ?? null), canonical(body));
    t.is(Object.getPrototypeOf((await store.get(view, 'k0'))?.body), Object.prototype);
  });

  test.serial('An empty body, a body of nulls and a tombstone are three different bodies', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    await store.write(view, [
      wholeFold('a', 0n, {}),
      wholeFold('b', 0n, { a: null }),
      wholeFold('c', 0n, null),
    ]);
    forget(store);
    t.is(canonical((await store.get(view, 'a'))?.body ?? null), '{}');
    t.is(canonical((await store.get(view, 'b'))?.body ?? null), '{"a":null}');
    t.is((await store.get(view, 'c'))?.body, null);
    t.deepEqual(
      (await store.find(view, { limit: 9 })).map(({ id }) => id),
      ['a', 'b'],
    );
  });
}

/** Lets a store that keeps what was written in memory read it from its file. */
function forget(store: ReadModelStore & { readonly forget?: () => void }): void {
  store.forget?.();
}

/** Sets own keys only, also where an object literal would set the prototype. */
function objectOf(keys: readonly string[], value: JsonValue): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, value]));
}
