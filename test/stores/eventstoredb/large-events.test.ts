import test from 'ava';
import { makeEvents, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { catchUp, givenSlowLink, givenServer } from '../../support/servers/eventstoredb-server/server.js';

/** All events need 1.7 s on the link, and a call may take 1 s. */
const log = { count: 25, bytes: 20_000 };
const link = { bytesPerSecond: 300_000, callMs: 1_000, pageBytes: 200_000 };

test.serial(
  'A reader catches up over a link that does not pass all large events within one call',
  async (t) => {
    const { store } = await givenSlowLink(t, log, link);
    const largest = await catchUp(store, log.count);
    t.true(largest <= 11, 'a page ends after the event with which it reaches its limit');
  },
);

test.serial('A stream of large events is read whole over such a link', async (t) => {
  const { store, stream } = await givenSlowLink(t, log, link);
  const events = await store.read(stream);
  t.deepEqual(
    events.map(({ revision }) => revision),
    Array.from({ length: log.count }, (_, index) => BigInt(index)),
  );
});

test.serial(
  'A page of small events ends after half of the time limit, so a slower link passes it too',
  async (t) => {
    // Given a link that passes 300 events of 1 kB in 1.5 s, and calls of 1 s
    const small = { count: 300, bytes: 1_000 };
    const { store } = await givenSlowLink(t, small, { bytesPerSecond: 300_000, callMs: 1_000 });
    t.true((await catchUp(store, small.count)) < small.count);
  },
);

test.serial(
  'A read that stalls returns the events that have come, as a page that is not the last',
  async (t) => {
    const { server, store } = await givenServer(t, {}, { limits: { callMs: 1_000 } });
    await store.append(uniqueStream(), 'no-stream', makeEvents(5));
    server.faults.next('read', { answer: 'nothing', afterEvents: 3 });
    const page = await store.readAll({ after: null, limit: 10 });
    t.deepEqual([page.events.length, page.atHead], [3, false]);
    const rest = await store.readAll({ after: page.cursor, limit: 10 });
    t.deepEqual([rest.events.length, rest.atHead], [2, true]);
  },
);
