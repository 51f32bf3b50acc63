import { randomUUID } from 'node:crypto';
import test from 'ava';
import { appendDurably } from '../../../src/event-sourcing/deciding/append-durably.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { makeEvent, makeEvents, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { makeSeededRandom, realClock } from '../../support/fakes/clock.js';
import { callMs, givenServer } from '../../support/servers/eventstoredb-server/server.js';

const deps = { clock: realClock, random: makeSeededRandom(7) };

test.serial('All appends share one call, which is probed before the first of them', async (t) => {
  const { server, store } = await givenServer(t);
  await Promise.all(
    Array.from({ length: 5 }, () => store.append(uniqueStream(), 'no-stream', makeEvents(2))),
  );
  t.deepEqual(
    server.faults.calls.map((call) => call.kind),
    ['probe', ...Array.from({ length: 5 }, () => 'append')],
  );
  t.is(server.log.records.length, 10);
});

for (const answer of ['timeout', 'not-ready', 'unknown'] as const) {
  test.serial(`An append that the server writes after it answered "${answer}" is written once`, async (t) => {
    const { server, store } = await givenServer(t, {}, { limits: { callMs } });
    const stream = uniqueStream();
    const events = makeEvents(3);
    server.faults.next('append', { apply: { afterMs: 20 }, answer });
    // The read after the answer may find the events already.
    const [first] = await Promise.allSettled([store.append(stream, 'no-stream', events)]);
    t.true(first.status === 'fulfilled' || first.reason instanceof OutcomeUnknown);
    t.like(await appendDurably({ eventStore: store, ...deps }, { stream, expected: 'no-stream' }, events), {
      revision: 2n,
    });
    t.is((await store.read(stream)).length, 3);
  });
}

for (const answer of ['timeout', 'unknown'] as const) {
  test.serial(`A written append that the server answers with "${answer}" is found by a read`, async (t) => {
    const { server, store } = await givenServer(t);
    const stream = uniqueStream();
    server.faults.next('append', { apply: 'now', answer });
    t.is((await store.append(stream, 'no-stream', makeEvents(2)))?.revision, 1n);
    t.deepEqual(
      server.faults.calls.map((call) => call.kind),
      ['probe', 'append', 'read'],
    );
  });
}

test.serial('A repetition that the server drops has the outcome of the append that it repeats', async (t) => {
  // Given a server that needs long to index an append, and drops its repetition meanwhile
  const { store } = await givenServer(t, { indexingMs: 300, commitTimeoutMs: 600 });
  const stream = uniqueStream();
  const events = makeEvents(2);
  const [first, repeated] = await Promise.all([
    store.append(stream, 'no-stream', events),
    store.append(stream, 'no-stream', events),
  ]);
  t.deepEqual(repeated, first);
  t.is((await store.read(stream)).length, 2);
});

for (const streamReadPositions of [true, false]) {
  test.serial(
    `A dropped repetition returns within 100 ms of the server's answer, ${streamReadPositions ? 'with' : 'without'} positions in reads of a stream`,
    async (t) => {
      // Given a server that drops the repetition of an append, and answers 600 ms later
      let onDroppedAnswered = (): void => undefined;
      const answered = new Promise<void>((resolve) => {
        onDroppedAnswered = resolve;
      });
      const start = { indexingMs: 300, commitTimeoutMs: 600, streamReadPositions };
      const { store } = await givenServer(t, { ...start, onDroppedAnswered });
      const target = { stream: uniqueStream(), expected: 'no-stream' as const };
      const events = makeEvents(2);
      const appending = (): Promise<bigint> =>
        appendDurably({ eventStore: store, ...deps }, target, events).then(({ revision }) => revision);
      const first = appending();
      let returnedMs = Infinity;
      const repeated = appending().then((revision) => {
        returnedMs = performance.now();
        return revision;
      });
      // When the server answers
      await answered;
      t.is(returnedMs, Infinity, 'the answer is what settles the repetition');
      // Then the repetition returns as soon as a read that begins now, which waits as long for a busy machine
      await store.read(target.stream);
      const readMs = performance.now();
      t.deepEqual([await first, await repeated], [1n, 1n]);
      t.true(returnedMs - readMs < 100, `it returned ${returnedMs - readMs} ms after the read`);
    },
  );
}

test.serial('A late answer to an append that was given up harms nothing', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs } });
  const stream = uniqueStream();
  await store.append(stream, 'no-stream', makeEvents(1));
  // Given an append whose answer comes after the time limit
  server.faults.next('append', { apply: 'now', delayMs: callMs * 2 });
  const late = t.throwsAsync(store.append(stream, 0n, makeEvents(1)), { instanceOf: OutcomeUnknown });
  await late;
  await realClock.sleep(callMs * 2);
  // Then the answer has come, and the store goes on
  const limits = { tries: 100, totalMs: 60_000 };
  const target = { stream: uniqueStream(), expected: 'no-stream' as const };
  t.like(await appendDurably({ eventStore: store, ...deps }, target, makeEvents(1), { limits }), {
    revision: 0n,
  });
  t.is(server.log.stream(`test.${stream}`)?.length, 2);
});

test.serial(
  'A broken connection under many large appends rejects each of them, and ends nothing else',
  async (t) => {
    const { server, store } = await givenServer(t, {}, { limits: { appendsMax: 400 } });
    await store.append(uniqueStream(), 'no-stream', makeEvents(1));
    const large = makeEvent({ data: { text: 'x'.repeat(20_000) } });
    const appends = Array.from({ length: 400 }, () =>
      store.append(uniqueStream(), 'no-stream', [{ ...large, id: randomUUID() }]),
    );
    setImmediate(() => server.network.cut());
    const settled = await Promise.allSettled(appends);
    for (const result of settled) {
      if (result.status === 'rejected') t.true(result.reason instanceof StoreUnavailable);
    }
    t.true(settled.some((result) => result.status === 'rejected'));
    t.is((await store.append(uniqueStream(), 'no-stream', makeEvents(1)))?.revision, 0n);
  },
);
