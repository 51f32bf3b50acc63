import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import type { AnyReaction, ReactionEvent } from '../../../src/event-sourcing/effects/reaction.js';
import type { ReactionTimer, ReactionTimers } from '../../../src/event-sourcing/effects/reaction-timers.js';
import { serveTimers } from '../../../src/event-sourcing/effects/serve-timers.js';
import type { DomainEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { partial } from '../../support/fakes/partial.js';
import { aheadMax, reactionCheckpoint } from '../../../src/event-sourcing/effects/run-reaction.js';
import { givenReactions, makeSendParcels } from '../../support/kernel/reactions.js';
import { dropCheckpoint, loadCheckpoint } from '../../../src/event-sourcing/ports/records.js';

const name = 'send-parcels';

test('An event with a timer holds no checkpoint, and is served at its time by the next process', async (t) => {
  const scene = givenReactions();
  const hour = 3_600_000;
  const dueAt = new Date(scene.clock.now().getTime() + 24 * hour);
  let asked = 0;
  const sending = makeSendParcels({
    handler: scene.handler,
    send: () => Promise.resolve(),
    onAsked: () => {
      asked += 1;
    },
  });
  const reactions: AnyReaction[] = [
    {
      ...sending,
      hasTimers: true,
      asks: (event) =>
        scene.clock.now() < dueAt ? Promise.resolve({ notBefore: dueAt }) : sending.asks(event),
    },
  ];
  // Given an event that waits for a day, and a later one in the log
  for (let n = 1; n <= aheadMax + 200; n += 1) await scene.ask(n, { stream: `p${n}` });
  // When a process has seen it and ends
  const runner = scene.start({ reactions });
  await scene.clock.advance(20_000);
  t.is(runner.statuses()[0]?.open, 0);
  await scene.clock.run(runner.stop());
  // Then the checkpoint has passed the events, also more than the reaction takes after one that stays open
  const checkpoint = await loadCheckpoint(scene.readModelStore, reactionCheckpoint({ name }));
  t.is(checkpoint?.position ?? null, await scene.eventStore.head());
  t.deepEqual(await scene.marked(), []);
  // And the next process serves them when they are due, once
  await scene.clock.advance(23 * hour);
  const next = scene.start({ reactions, holder: 'process 2' });
  await scene.clock.advance(hour - 60_000);
  t.deepEqual(await scene.marked(), []);
  await scene.clock.advance(90_000);
  t.is((await scene.marked()).length, aheadMax + 200);
  t.deepEqual(await scene.stateStore.list('timer/', { limit: 10 }), []);
  t.is(
    asked,
    2 * (aheadMax + 200),
    'each stream is read before and under the claim, and not while the event waits',
  );
  await scene.clock.run(next.stop());
  t.deepEqual(scene.reports, []);
});

test('An event that is still served at the next looks for timers is served once', async (t) => {
  const { clock } = givenReactions();
  const timer = partial<ReactionTimer>({
    ...{ key: 'timer/a', dueAt: clock.now(), eventId: 'an event' },
    event: { stream: 'parcel-p1', revision: '0', position: '0000000000000001' },
  });
  const controller = new AbortController();
  const begun: string[] = [];
  let looks = 0;
  await serveTimers({
    timers: partial<ReactionTimers>({
      first: () => Promise.resolve([timer]),
      eventOf: () => Promise.resolve(partial<ReactionEvent<DomainEvent>>({})),
    }),
    clock,
    sleepUntilRetry: async () => {
      await setImmediate();
      looks += 1;
      if (looks === 3) controller.abort();
    },
    signal: controller.signal,
    quarantine: { attempt: async (_, work) => work() },
    serve: () => {
      begun.push(timer.key);
      return new Promise(() => undefined);
    },
    start: () => undefined,
    onRetry: (error) => t.fail(error.message),
  });
  t.deepEqual(begun, ['timer/a']);
});

test('Two hundred due timers whose events cannot be served hold up no later one', async (t) => {
  const scene = givenReactions();
  const dueAt = new Date(scene.clock.now().getTime() + 3_600_000);
  const isHeld = (n: number): boolean => n <= 200;
  const sending = makeSendParcels({
    handler: scene.handler,
    send: ({ data: { n } }) => (isHeld(n) ? Promise.reject(new Error('away')) : Promise.resolve()),
  });
  const reactions: AnyReaction[] = [
    {
      ...sending,
      hasTimers: true,
      asks: (event) => {
        const isLater = event.stream === 'parcel-p201';
        const notBefore = new Date(dueAt.getTime() + (isLater ? 1_000 : 0));
        return scene.clock.now() < notBefore ? Promise.resolve({ notBefore }) : sending.asks(event);
      },
    },
  ];
  for (let n = 1; n <= 201; n += 1) await scene.ask(n, { stream: `p${n}` });
  const runner = scene.start({ reactions });
  await scene.clock.advance(3_600_000 + 120_000);
  t.is((await scene.marked()).length, 1);
  await scene.clock.run(runner.stop());
});

test('A timer whose event the log does not hold is removed', async (t) => {
  const scene = givenReactions();
  const value = { stream: 'parcel-p9', revision: '0', position: '0000000000000009' };
  const key = `timer/${name}/${scene.clock.now().toISOString()}/019b7d00-0000-7000-8000-000000000801`;
  await scene.stateStore.compareAndSet(key, null, value);
  const sending = makeSendParcels({ handler: scene.handler, send: () => Promise.resolve() });
  const runner = scene.start({ reactions: [{ ...sending, hasTimers: true }] });
  await scene.clock.advance(1_000);
  t.deepEqual(await scene.stateStore.list('timer/', { limit: 10 }), []);
  await scene.clock.run(runner.stop());
  t.deepEqual(scene.reports, []);
});

test('An event that waits for long in a reaction without timers holds the checkpoint, and is served at its time', async (t) => {
  const scene = givenReactions();
  const dueAt = new Date(scene.clock.now().getTime() + 2 * 3_600_000);
  const sending = makeSendParcels({ handler: scene.handler, send: () => Promise.resolve() });
  const waiting: AnyReaction = {
    ...sending,
    asks: (event) =>
      scene.clock.now() < dueAt ? Promise.resolve({ notBefore: dueAt }) : sending.asks(event),
  };
  await scene.ask(1, { stream: 'p1' });
  const runner = scene.start({ reactions: [waiting] });
  await scene.clock.advance(2 * 3_600_000 - 60_000);
  t.is(runner.statuses()[0]?.open, 1);
  t.deepEqual(await scene.stateStore.list('timer/', { limit: 10 }), []);
  t.deepEqual(await scene.marked(), []);
  await scene.clock.advance(90_000);
  t.is((await scene.marked()).length, 1);
  await scene.clock.run(runner.stop());
  t.deepEqual(scene.reports, []);
});

test('An event that is read again while its timer is due has its effect once', async (t) => {
  const scene = givenReactions();
  const dueAt = new Date(scene.clock.now().getTime() + 3_600_000);
  const effects: number[] = [];
  const sending = makeSendParcels({
    handler: scene.handler,
    send: async ({ data: { n } }) => {
      effects.push(n);
      await scene.clock.sleep(2_000);
    },
  });
  const reaction: AnyReaction = {
    ...sending,
    hasTimers: true,
    asks: (event) =>
      scene.clock.now() < dueAt ? Promise.resolve({ notBefore: dueAt }) : sending.asks(event),
  };
  // Given an event with a timer
  await scene.ask(1);
  const runner = scene.start({ reactions: [reaction] });
  await scene.clock.advance(20_000);
  await scene.clock.run(runner.stop());
  // When the checkpoint is lost, and the next process reads the event again half a minute before its time
  await dropCheckpoint(scene.readModelStore, reactionCheckpoint({ name }));
  await scene.clock.advance(3_600_000 - 20_000 - 30_000);
  const next = scene.start({ reactions: [reaction], holder: 'process 2' });
  await scene.clock.advance(60_000);
  // Then it serves the event and the timer as one
  t.deepEqual(effects, [1]);
  t.deepEqual(await scene.marked(), [1]);
  t.deepEqual(await scene.stateStore.list('timer/', { limit: 10 }), []);
  t.is(next.statuses()[0]?.open, 0);
  await scene.clock.run(next.stop());
  t.deepEqual(scene.reports, []);
});
