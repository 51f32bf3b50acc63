import test from 'ava';
import { callsOfRequests, givenServers } from '../support/servers/calls-of-requests.js';

/** The calls to the event store of a request, one after the other, in a process that has served the same clients before. */
const callsMax: Readonly<Record<string, number>> = {
  'GET storage': 0,
  'list of assets': 0,
  'POST project': 2,
  'PATCH project': 2,
  'POST storage': 2,
  'POST asset': 2,
  refresh: 3,
  'a callback with its grant': 9,
  'a sign-in': 3,
};

test('A request asks the event store as often as it must, and reads no stream twice in vain', async (t) => {
  t.timeout(300_000);
  const servers = await givenServers();
  t.teardown(() => servers.stop());
  const counts = await callsOfRequests(servers);
  t.deepEqual(
    counts.map(({ what }) => what),
    Object.keys(callsMax),
  );
  for (const { what, calls, streams } of counts) t.log(what, calls, streams.join());
  for (const { what, calls, streams } of counts)
    // Now and then a task of the process reads a stream meanwhile.
    t.true(calls < (callsMax[what] ?? 0) + 0.5, `${what}: ${calls} calls, ${streams.join()}`);
});
