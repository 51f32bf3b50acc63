import test from 'ava';
import { followLog } from '../../../src/event-sourcing/feeding/follow-log.js';
import type { LogPage } from '../../../src/event-sourcing/ports/event-store.js';
import { makeSeededRandom, makeTestClock } from '../../support/fakes/clock.js';

test('A page that a consumer takes while its subscription ends is its last one, and then it saves', async (t) => {
  // Given a store that yields further pages after the end of a subscription
  const stopping = new AbortController();
  const pages = async function* (): AsyncGenerator<LogPage> {
    for (const cursor of ['1', '2', '3']) yield await Promise.resolve({ events: [], cursor, atHead: false });
  };
  const doings: (string | null)[] = [];
  await followLog(
    { eventStore: { subscribe: pages }, clock: makeTestClock(), random: makeSeededRandom(1) },
    {
      signal: stopping.signal,
      onRetry: ({ message }) => t.fail(message),
      begin: () =>
        Promise.resolve({
          after: null,
          take: ({ cursor }) => {
            doings.push(cursor);
            // When the consumer must end while it takes the second page
            if (cursor === '2') stopping.abort();
            return Promise.resolve();
          },
          end: () => {
            doings.push('saved');
            return Promise.resolve();
          },
        }),
    },
  );
  t.deepEqual(doings, ['1', '2', 'saved']);
});
