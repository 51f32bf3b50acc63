/*
 * A seeded campaign of random faults between the adapter and a server that speaks EventStoreDB's protocol. Writers race
 * for a few streams. Meanwhile calls fail before their effect, after it, late or never; connections are cut, frozen and
 * refused; subscriptions are dropped, ended and stalled.
 *
 * Each round asserts: an acknowledged append is in the log exactly once, at its acknowledged place; any other append is
 * there whole or not at all; a read after an acknowledgement sees the append; every follower sees every event once and
 * in order. The faults, the streams and the waits follow from the seed. The interleaving depends on the network.
 */
import test from 'ava';
import { appendDurably } from '../../src/event-sourcing/deciding/append-durably.js';
import { StoreUnavailable, WrongExpectedRevision } from '../../src/event-sourcing/ports/errors.js';
import type { Clock, Random } from '../../src/kit/time/clock.js';
import type { NewEvent, Position } from '../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { makeEvents, readLog } from '../contracts/event-store-fixtures.js';
import { eventually } from '../support/eventually.js';
import { makeSeededRandom, realClock } from '../support/fakes/clock.js';
import type { Answer, Call, Fault } from '../support/servers/eventstoredb-server/faults.js';
import {
  openTestStore,
  startEventStoreDbServer,
  type EventStoreDbServer,
} from '../support/servers/eventstoredb-server/server.js';
import { consumerTooSlow } from '../support/servers/eventstoredb-server/statuses.js';

const seed = Number(process.env['DEEP_SEED'] ?? '1');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const rounds = Math.ceil(8 * budget);
const writers = 12;
const appendsPerWriter = 20;
/** The time limit of a round in milliseconds, which bounds it on a slow machine. */
const roundMs = 8_000;
/** The largest number of attempts at an append that must succeed without faults. */
const triesMax = 500;
const streams = ['thing-a', 'thing-b', 'thing-c', 'thing-d', 'thing-e', 'thing-f'] as const;
/** A clock that shortens back-off to a twentieth, because the faults are short too. */
const clock: Clock = { ...realClock, sleep: (ms, signal) => realClock.sleep(ms / 20, signal) };
const limits = { callMs: 120, pollMs: 20, silenceMs: 200 };

interface Attempt {
  readonly stream: string;
  readonly from: bigint;
  readonly events: readonly NewEvent[];
  outcome: 'acknowledged' | 'refused' | 'unknown';
}

const answers: readonly Answer[] = [
  'nothing',
  'cut',
  'unavailable',
  'timeout',
  'not-ready',
  'not-leader',
  'cancelled',
  'unknown',
];

for (let round = 0; round < rounds; round += 1) {
  test.serial(
    `Round ${round}: every acknowledged append is in the log exactly once, and no append is half written`,
    async (t) => {
      const random = makeSeededRandom(seed * 1_000 + round);
      const server = await startEventStoreDbServer();
      const stores = Array.from({ length: 2 }, () =>
        openTestStore(server.url, {
          limits,
          clock,
          random: makeSeededRandom(Math.floor(random() * 2 ** 31)),
        }),
      );
      const controller = new AbortController();
      t.teardown(async () => {
        controller.abort();
        await Promise.all(stores.map((store) => store.close()));
        await server.close();
      });
      const followed = stores.map((store) => followLog(store, controller.signal));
      server.faults.decideBy((call) => randomFault(call, random));
      const writing = new AbortController();
      const weather = makeWeather(server, random, writing.signal);
      const attempts = (
        await Promise.all(
          Array.from({ length: writers }, (_, index) => {
            const store = stores[index % stores.length];
            if (store === undefined) throw new Error('a writer without a store');
            return write(store, makeSeededRandom(Math.floor(random() * 2 ** 31)));
          }),
        )
      ).flat();
      writing.abort();
      await weather;
      server.faults.decideBy(null);
      // Without faults every store works again, even on a slow machine.
      for (const store of stores) attempts.push(...(await writeOnceMore(store, random)));
      // Timers fire in order, so the latest delayed write has happened after this wait.
      await realClock.sleep(300);

      const calm = openTestStore(server.url);
      t.teardown(() => calm.close());
      for (const stream of streams) {
        const stored = await readWhole(calm, stream);
        t.deepEqual(
          stored.map((event) => event.revision),
          stored.map((_, index) => BigInt(index)),
        );
        const ids = stored.map((event) => event.id);
        t.is(new Set(ids).size, ids.length, 'no event is duplicated');
        for (const attempt of attempts.filter((each) => each.stream === stream)) {
          const expected = attempt.events.map((event) => event.id);
          const found = ids.slice(Number(attempt.from), Number(attempt.from) + expected.length);
          const whole = expected.every((id, index) => found[index] === id);
          const absent = expected.every((id) => !ids.includes(id));
          if (attempt.outcome === 'acknowledged')
            t.true(whole, 'an acknowledged append is at its acknowledged place');
          else if (attempt.outcome === 'refused') t.true(absent, 'a refused append is absent');
          else t.true(whole || absent, 'an unknown append is whole or absent');
        }
      }
      const log = (await readLog(calm, null)).flatMap((page) => page.events.map((event) => event.id));
      await Promise.all(followed.map((follower) => follower.reached(log.length)));
      controller.abort();
      for (const follower of followed) t.deepEqual(await follower.ended, log);
      const count = (outcome: Attempt['outcome']) =>
        attempts.filter((each) => each.outcome === outcome).length;
      t.log(
        `seed ${seed}: ${count('acknowledged')} acknowledged, ${count('refused')} lost races, ${count('unknown')} unknown; ${server.faults.calls.length} calls`,
      );
    },
  );
}

/** Runs one writer: it reads a stream, appends after its end, and records the outcome. */
async function write(store: EventStore, random: Random): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const endMs = performance.now() + roundMs;
  while (attempts.length < appendsPerWriter && performance.now() < endMs) {
    attempts.push(await writeOnce(store, random));
  }
  return attempts;
}

async function writeOnce(store: EventStore, random: Random): Promise<Attempt> {
  const stream = streams[Math.floor(random() * streams.length)] ?? streams[0];
  const before = await readUntilAnswered(store, stream);
  const from = BigInt(before.length);
  const events = makeEvents(1 + Math.floor(random() * 4));
  const attempt: Attempt = { stream, from, events, outcome: 'acknowledged' };
  try {
    const expected = from === 0n ? 'no-stream' : from - 1n;
    await appendDurably({ eventStore: store, clock, random }, { stream, expected }, events);
    const after = await readUntilAnswered(store, stream);
    if (after[Number(from)] !== events[0]?.id) throw new Error('an acknowledged append was not visible');
  } catch (error) {
    if (error instanceof WrongExpectedRevision) attempt.outcome = 'refused';
    else if (error instanceof StoreUnavailable) attempt.outcome = 'unknown';
    else throw error;
  }
  return attempt;
}

/**
 * Appends until one append is acknowledged. Returns all attempts.
 * @throws Error when none succeeds in `triesMax` attempts
 */
async function writeOnceMore(store: EventStore, random: Random): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  while (attempts.at(-1)?.outcome !== 'acknowledged') {
    if (attempts.length === triesMax) throw new Error('a store does not recover');
    attempts.push(await writeOnce(store, random));
  }
  return attempts;
}

async function readUntilAnswered(store: EventStore, stream: string): Promise<readonly string[]> {
  for (;;) {
    try {
      return (await readWhole(store, stream)).map((event) => event.id);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await realClock.sleep(5);
    }
  }
}

async function readWhole(store: EventStore, stream: string) {
  return store.read(stream, { limit: 10_000 });
}

function randomFault(call: Call, random: Random): Fault | undefined {
  if (random() > (call.kind === 'append' ? 0.4 : 0.08)) return undefined;
  const answer = random() < 0.2 ? 'normal' : (answers[Math.floor(random() * answers.length)] ?? 'cut');
  const delayMs = Math.floor(random() * 80);
  if (call.kind !== 'append') return { answer, delayMs, afterEvents: Math.floor(random() * 20) };
  const when = random();
  const apply = when < 0.4 ? 'now' : when < 0.7 ? 'never' : { afterMs: Math.floor(random() * 100) };
  // A server never reports success before the effect.
  return { apply: answer === 'normal' ? 'now' : apply, answer, delayMs };
}

/** Causes trouble that concerns no single call, until the signal aborts. */
async function makeWeather(server: EventStoreDbServer, random: Random, signal: AbortSignal): Promise<void> {
  const ended = (): boolean => signal.aborted;
  while (!ended()) {
    await realClock.sleep(Math.floor(random() * 250));
    const kind = Math.floor(random() * 6);
    if (kind === 0) server.network.cut();
    if (kind === 1) {
      server.network.freeze();
      await realClock.sleep(Math.floor(random() * 120));
      server.network.thaw();
    }
    if (kind === 2) {
      await server.network.refuse();
      await realClock.sleep(Math.floor(random() * 60));
      await server.network.accept();
    }
    for (const subscription of server.subscriptions) {
      if (kind === 3) subscription.drop(consumerTooSlow());
      if (kind === 4) subscription.end();
      if (kind === 5) subscription.stall();
    }
  }
}

/** Follows the log in the background, again after an error; every event must arrive once, in order. */
function followLog(store: EventStore, signal: AbortSignal) {
  const ids: string[] = [];
  let after: Position | null = null;
  const follow = async (): Promise<void> => {
    for await (const page of store.subscribe({ after, signal })) {
      ids.push(...page.events.map((event) => event.id));
      after = page.cursor;
    }
  };
  const ended = (async () => {
    while (!signal.aborted) {
      await follow().catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    }
    return ids;
  })();
  const reached = (count: number) =>
    eventually(
      () => `${count} events arrive, after ${ids.length}`,
      () => ids.length >= count,
    );
  return { ended, reached };
}
