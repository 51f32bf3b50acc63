import test from 'ava';
import { quarantinedItems } from '../../../src/event-sourcing/feeding/quarantine.js';
import type { StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { StoreUnavailable, StreamDamaged } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { AnyReaction } from '../../../src/event-sourcing/effects/reaction.js';
import { reactionCheckpoint, quarantinedMax } from '../../../src/event-sourcing/effects/run-reaction.js';
import { quarantinedEvents } from '../../../src/event-sourcing/effects/take-back.js';
import { counterAggregate } from '../../support/kernel/counters.js';
import { sendToCounter, handlerWithoutViews } from '../../support/kernel/world.js';
import {
  givenReactions,
  type ReactionScene,
  makeCountParcels,
  makeSendParcels,
  type ParcelAsked,
} from '../../support/kernel/reactions.js';
import {
  listRecords,
  loadCheckpoint,
  putRecord,
  removeRecord,
  dropCheckpoint,
} from '../../../src/event-sourcing/ports/records.js';
import { withRecordHooks } from '../../support/kernel/faulty-stores.js';

const name = 'send-parcels';

type IsHurt = (event: Pick<StoredEvent, 'stream' | 'revision'>) => boolean;

/** Shows some events in a shape that the release cannot decode. */
function asUnknownShape(log: EventStore, isHurt: IsHurt): EventStore {
  const seen = <Event extends StoredEvent>(events: readonly Event[]): Event[] =>
    events.map((event) => (isHurt(event) ? { ...event, data: { colour: 'canary' } } : event));
  return {
    ...log,
    read: async (stream, options) => seen(await log.read(stream, options)),
    subscribe: async function* (options) {
      for await (const page of log.subscribe(options)) yield { ...page, events: seen(page.events) };
    },
  };
}

/** Refuses to read the streams of some events, as a server does that has truncated them. */
function asTruncated(log: EventStore, isHurt: IsHurt): EventStore {
  return {
    ...log,
    read: async (stream, options) => {
      const events = await log.read(stream, options);
      if (events.some(isHurt)) throw new StreamDamaged(stream, `stream ${stream} lacks an event`);
      return events;
    },
  };
}

const ofP1: IsHurt = ({ stream }) => stream === 'parcel-p1';
const damages = [
  ['an event that cannot be decoded', asUnknownShape, /ParcelAsked \(parcel-p1 at revision 0\)/],
  ['a damaged stream', asTruncated, /stream parcel-p1 lacks an event/],
] as const;

/** Makes the reaction of a process that sees a log. */
function sendingOver(scene: ReactionScene, eventStore: EventStore): AnyReaction {
  const { clock, random, sent } = scene;
  const handler = handlerWithoutViews({ clock, random, eventStore });
  return makeSendParcels({
    handler,
    send: ({ id, data }: ParcelAsked) => {
      sent.push({ id, n: data.n, atMs: clock.now().getTime() });
      return Promise.resolve();
    },
  });
}

/** Runs the reaction of one process over a log for a while. Returns its status before the stop. */
async function runOver(scene: ReactionScene, eventStore: EventStore, ms = 5_000) {
  const runner = scene.start({ reactions: [sendingOver(scene, eventStore)], deps: { eventStore } });
  await scene.clock.advance(ms);
  const [status] = runner.statuses();
  await scene.clock.run(runner.stop());
  return status;
}

const numbers = ({ sent }: ReactionScene): readonly number[] => sent.map(({ n }) => n);
const quarantinedIn = ({ readModelStore }: ReactionScene) =>
  quarantinedItems(readModelStore, reactionCheckpoint({ name }));
const checkpointOf = async ({ readModelStore }: ReactionScene): Promise<string | null> =>
  (await loadCheckpoint(readModelStore, reactionCheckpoint({ name })))?.position ?? null;

for (const [what, damage, reason] of damages) {
  test(`A reaction quarantines an event for ${what}, serves all others after each start, and serves it once after the repair`, async (t) => {
    const scene = givenReactions();
    const hurt = damage(scene.eventStore, ofP1);
    await scene.ask(1);
    await scene.ask(2, { stream: 'p2' });
    for (const start of [0, 1]) {
      // When a process serves over the damaged log
      const status = await runOver(scene, hurt);
      // Then the event is recorded, the checkpoint passes it, and the others are served
      t.like(status, { state: 'running', reason: null, open: 0, quarantined: 1 });
      const [quarantined, ...others] = await quarantinedIn(scene);
      t.deepEqual(others, []);
      t.regex(quarantined?.reason ?? '', reason);
      t.notRegex(quarantined?.reason ?? '', /canary/);
      t.like(quarantined?.event, { stream: 'parcel-p1', revision: '0' });
      t.is(await checkpointOf(scene), await scene.eventStore.head());
      t.deepEqual(numbers(scene), [2, 3].slice(0, start + 1));
      await scene.ask(3 + start, { stream: `p${3 + start}` });
    }
    t.deepEqual([...(await quarantinedEvents(scene.readModelStore)).keys()], [name]);
    t.is(scene.reports.filter((report) => report.startsWith(`quarantined ${name} parcel-p1@0`)).length, 1);
    // When a release reads it, or an operator has restored the stream
    t.like(await runOver(scene, scene.eventStore), { state: 'running', quarantined: 0 });
    // Then the event is served once, also after another start
    t.deepEqual(numbers(scene).toSorted(), [1, 2, 3, 4]);
    t.deepEqual(await quarantinedIn(scene), []);
    await runOver(scene, scene.eventStore);
    t.is(scene.sent.length, 4);
    t.is((await scene.marked()).length, 4);
  });
}

test('A reaction that has lost its checkpoint and its records quarantines the event again', async (t) => {
  const scene = givenReactions();
  const hurt = asTruncated(scene.eventStore, ofP1);
  await scene.ask(1);
  await scene.ask(2, { stream: 'p2' });
  await runOver(scene, hurt);
  // When an operator deletes the read models
  await dropCheckpoint(scene.readModelStore, reactionCheckpoint({ name }));
  for (const { name: record, version } of await listRecords(scene.readModelStore, 'set-apart/'))
    await removeRecord(scene.readModelStore, record, version);
  // Then the next start finds the event in the log
  t.like(await runOver(scene, hurt), { state: 'running', quarantined: 1 });
  t.deepEqual(numbers(scene), [2]);
  await runOver(scene, scene.eventStore);
  t.deepEqual(numbers(scene), [2, 1]);
});

test('A reaction serves a later event of the stream when it can read what it needs', async (t) => {
  // Given a reaction that needs the event alone, and two events of one stream
  const scene = givenReactions();
  await sendToCounter(scene.handler, 'sent', { type: 'Open', label: 'sent' }, 1);
  for (const n of [1, 2]) await scene.ask(n);
  await runOver(scene, scene.eventStore);
  const counted = async (): Promise<number> =>
    (await scene.handler.load(counterAggregate, 'sent')).state.total;
  // When it cannot read the first of them
  const hurt = asUnknownShape(scene.eventStore, (event) => ofP1(event) && event.revision === 2n);
  const run = async (eventStore: EventStore) => {
    const runner = scene.start({ reactions: [makeCountParcels(scene)], deps: { eventStore } });
    await scene.clock.advance(2_000);
    await scene.clock.run(runner.stop());
  };
  await run(hurt);
  // Then it counts the second one, and the first one when it can
  t.is(await counted(), 1);
  await run(scene.eventStore);
  t.is(await counted(), 2);
});

test('Two processes that run one reaction at once serve an event once that one of them cannot read', async (t) => {
  const scene = givenReactions();
  const hurt = asTruncated(scene.eventStore, ofP1);
  await scene.ask(1);
  // Given an older release that cannot read the event, and a newer one that runs at the same time
  const older = scene.start({ reactions: [sendingOver(scene, hurt)], deps: { eventStore: hurt } });
  const newer = scene.start({ holder: 'process 2' });
  await scene.clock.advance(2_000);
  await scene.ask(2, { stream: 'p2' });
  await scene.clock.advance(5_000);
  await scene.clock.run(Promise.all([older.stop(), newer.stop()]));
  t.deepEqual(numbers(scene), [1, 2]);
  // When the newer one starts again, then the record of the older one goes without another effect
  await runOver(scene, scene.eventStore);
  t.deepEqual(numbers(scene), [1, 2]);
  t.deepEqual(await quarantinedIn(scene), []);
});

test('An event is quarantined before the checkpoint passes it, also while the store does not take the record', async (t) => {
  const scene = givenReactions();
  const hurt = asTruncated(scene.eventStore, ofP1);
  await scene.ask(1);
  await scene.ask(2, { stream: 'p2' });
  let away = true;
  const readModelStore = withRecordHooks(scene.readModelStore, {
    write: (_, pass) => (away ? Promise.reject(new StoreUnavailable('no answer')) : pass()),
    save: (_, pass) => pass(),
  });
  const reactions = [sendingOver(scene, hurt)];
  const runner = scene.start({ reactions, deps: { eventStore: hurt, readModelStore } });
  await scene.clock.advance(10_000);
  t.deepEqual(numbers(scene), [2], 'the others are served meanwhile');
  t.is(await checkpointOf(scene), null);
  away = false;
  await scene.clock.advance(61_000);
  t.is((await quarantinedIn(scene)).length, 1);
  t.is(await checkpointOf(scene), await scene.eventStore.head());
  await scene.clock.run(runner.stop());
});

test('A reaction reads the records after its checkpoint, so it finds the event of a process that ends meanwhile', async (t) => {
  const scene = givenReactions();
  const hurt = asTruncated(scene.eventStore, ofP1);
  await scene.ask(1);
  // Given a process of an older release that ends between two reads of one that starts
  let other: Promise<unknown> | undefined;
  const readModelStore = withRecordHooks(scene.readModelStore, {
    read: async (_, pass) => {
      await (other ??= runOver(scene, hurt, 0));
      return pass();
    },
  });
  // When the other one has started, then it serves the event
  const runner = scene.start({ deps: { readModelStore } });
  await scene.clock.advance(0);
  await other;
  await scene.clock.advance(10_000);
  t.deepEqual(numbers(scene), [1]);
  await scene.clock.run(runner.stop());
});

test('An event whose timer is due on a damaged stream is quarantined instead of its timer, and is served after the repair', async (t) => {
  const scene = givenReactions();
  const dueAt = new Date(scene.clock.now().getTime() + 3_600_000);
  const timed = (eventStore: EventStore): AnyReaction => {
    const sending = sendingOver(scene, eventStore);
    return {
      ...sending,
      hasTimers: true,
      asks: (event) =>
        scene.clock.now() < dueAt ? Promise.resolve({ notBefore: dueAt }) : sending.asks(event),
    };
  };
  const run = async (eventStore: EventStore, ms: number) => {
    const runner = scene.start({ reactions: [timed(eventStore)], deps: { eventStore } });
    await scene.clock.advance(ms);
    await scene.clock.run(runner.stop());
  };
  // Given two events with timers
  await scene.ask(1);
  await scene.ask(2, { stream: 'p2' });
  await run(scene.eventStore, 5_000);
  t.is((await scene.stateStore.list('timer/', { limit: 10 })).length, 2);
  // When the stream of one is damaged before its time
  await run(asTruncated(scene.eventStore, ofP1), 3_700_000);
  t.deepEqual(numbers(scene), [2]);
  t.deepEqual(await scene.stateStore.list('timer/', { limit: 10 }), []);
  t.like((await quarantinedIn(scene))[0], { event: { stream: 'parcel-p1', revision: '0' } });
  // Then it is served once after the repair
  await run(scene.eventStore, 5_000);
  t.deepEqual(numbers(scene), [2, 1]);
  t.deepEqual(await quarantinedIn(scene), []);
});

test('A process that ends while it takes an event back keeps the record, and the next one serves the event', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  await runOver(scene, asTruncated(scene.eventStore, ofP1));
  const ending = scene.start({ send: () => Promise.reject(new Error('it fails')) });
  await scene.clock.advance(120_000);
  t.is(ending.statuses()[0]?.quarantined, 1);
  await scene.clock.run(ending.stop());
  t.is((await quarantinedIn(scene)).length, 1);
  await runOver(scene, scene.eventStore, 61_000);
  t.deepEqual(numbers(scene), [1]);
  t.deepEqual(await quarantinedIn(scene), []);
});

test('A reaction takes an event back that the log does not hold any more, as after a restore', async (t) => {
  const scene = givenReactions();
  const event = { stream: 'parcel-p9', revision: '0', position: '0000000000000009' };
  const record = `set-apart/${reactionCheckpoint({ name })}/019b7d00-0000-7000-8000-000000000801`;
  await putRecord(scene.readModelStore, record, { reason: 'it was deleted', event }, null);
  t.like(await runOver(scene, scene.eventStore), { state: 'running', quarantined: 0 });
  t.deepEqual(await quarantinedIn(scene), []);
});

test('A reaction stops when more than 1,000 events cannot be served, and its checkpoint passes none of the rest', async (t) => {
  const scene = givenReactions();
  for (let n = 1; n <= quarantinedMax + 1; n += 1) await scene.ask(n, { stream: `p${n}` });
  const hurt = asUnknownShape(scene.eventStore, () => true);
  const status = await runOver(scene, hurt);
  t.like(status, { state: 'stopped', quarantined: quarantinedMax });
  t.regex(status?.reason ?? '', /ParcelAsked \(parcel-p1001 at revision 0\)/);
  t.is((await quarantinedIn(scene)).length, quarantinedMax);
  t.true(((await checkpointOf(scene)) ?? '') < ((await scene.eventStore.head()) ?? ''));
  // When a release can read them, then it serves all of them
  await runOver(scene, scene.eventStore, 60_000);
  t.is(new Set(numbers(scene)).size, quarantinedMax + 1);
  t.is(scene.sent.length, quarantinedMax + 1);
});

test('An event that is in quarantine and after the checkpoint has its effect once', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  await runOver(scene, asUnknownShape(scene.eventStore, ofP1));
  // Given a record that a process saved before its checkpoint passed the event
  await dropCheckpoint(scene.readModelStore, reactionCheckpoint({ name }));
  const { clock, handler } = scene;
  const effects: number[] = [];
  const sending = makeSendParcels({
    handler,
    send: async ({ data: { n } }) => {
      effects.push(n);
      await clock.sleep(2_000);
    },
  });
  // When a release starts that can decode the event
  const runner = scene.start({ reactions: [sending] });
  await clock.advance(10_000);
  // Then it takes the record back, and serves the event once
  t.deepEqual(effects, [1]);
  t.like(runner.statuses()[0], { open: 0, quarantined: 0 });
  t.deepEqual(await quarantinedIn(scene), []);
  await clock.run(runner.stop());
});

test('A reaction whose checkpoint was deleted while it rested saves it again when it stops', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const runner = scene.start();
  await scene.clock.advance(20_000);
  const saved = await checkpointOf(scene);
  t.is(saved, await scene.eventStore.head());
  await dropCheckpoint(scene.readModelStore, reactionCheckpoint({ name }));
  await scene.clock.run(runner.stop());
  t.is(await checkpointOf(scene), saved);
});
