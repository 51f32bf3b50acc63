import test from 'ava';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import type { JsonObject, StoredEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { makePace } from '../../src/kit/read-in-turns.js';
import { makeMessageOf } from '../../src/webhooks/messages/fold-messages.js';
import { everyEvent } from '../support/examples/every-event.js';
import { storageId } from '../support/examples/ids.js';
import { storableEvent } from '../support/given/given-webhooks.js';

const at = new Date('2026-01-05T00:00:00.000Z');
const stream = `storage-${storageId}`;
const types = ['StorageDisabled', 'StorageEnabled'] as const;

/** Given a storage with that many events, which is disabled and enabled in turns, and a log that counts what it returns. */
function given(count: number) {
  const events = Array.from({ length: count }, (_, revision): StoredEvent => {
    const type = revision === 0 ? 'StorageCreated' : (types[revision % 2] ?? types[0]);
    const data: JsonObject = everyEvent.storage[type];
    return { ...storableEvent(type, data, at), stream, revision: BigInt(revision), recordedAt: at };
  });
  let [returned, yields] = [0, 0];
  let head = count;
  const pace = makePace((next) => {
    yields += 1;
    setImmediate(next);
  });
  const read = (_stream: string, { from = 0n, limit = 500 } = {}) => {
    const page = events.slice(Number(from), Math.min(head, Number(from) + limit));
    returned += page.length;
    return Promise.resolve(page);
  };
  const messageOf = makeMessageOf({ read }, pace);
  return {
    cut: (at: number) => {
      head = at;
    },
    /** Makes the message of an event. */
    make: async (revision: number) => {
      const event = events[revision];
      if (event === undefined) throw new Error('there is no such event');
      const before = returned;
      const { type, data } = await messageOf(event);
      return { type, status: data['status'], returned: returned - before };
    },
    yields: () => yields,
  };
}

test('The next message of a storage reads no event at 10 and at 10,000 events', async (t) => {
  for (const count of [10, 10_000]) {
    const { make } = given(count);
    await make(count - 3);
    t.is((await make(count - 2)).returned, 0);
    t.like(await make(count - 1), { type: 'storage.enabled', status: 'pending', returned: 0 });
    // A repeated attempt costs nothing either, and a message after a gap costs the gap.
    t.is((await make(count - 1)).returned, 0);
  }
  const { make } = given(10);
  await make(2);
  t.is((await make(6)).returned, 3);
});

test('A message of an earlier event is made from the beginning, with the facts of then', async (t) => {
  const { make } = given(10);
  t.like(await make(9), { type: 'storage.enabled', status: 'pending' });
  t.like(await make(4), { type: 'storage.disabled', status: 'disabled', returned: 4 });
});

test('A long stream is folded with yields to other work', async (t) => {
  const { make, yields } = given(2_001);
  await make(2_000);
  t.true(yields() >= 40, `${yields()} yields`);
});

test('A log that does not return all events before an event makes no message', async (t) => {
  const { make, cut } = given(10);
  cut(5);
  await t.throwsAsync(make(9), { instanceOf: StoreUnavailable });
  cut(10);
  t.like(await make(9), { type: 'storage.enabled' });
});
