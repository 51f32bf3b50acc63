import test from 'ava';
import { catchUp, givenSlowLink } from '../support/servers/eventstoredb-server/server.js';

test('A reader catches up on 500 events of 200 kB over a link that passes 10 MB a second', async (t) => {
  const log = { count: 500, bytes: 200_000 };
  // All of them take 10 s, and a call may take 5 s.
  const { store, stream } = await givenSlowLink(t, log, { bytesPerSecond: 10_000_000, callMs: 5_000 });
  t.true((await catchUp(store, log.count)) <= 11, 'a page has at most 2 MiB and an event');
  t.is((await store.read(stream)).length, log.count);
});
