import test from 'ava';
import { validate } from 'uuid';
import { z } from 'zod';
import { makeEventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { CommandContext } from '../../../src/event-sourcing/ports/command-context.js';
import { type AnyReaction, eventFor } from '../../../src/event-sourcing/effects/reaction.js';
import { aheadMax, reactionCheckpoint } from '../../../src/event-sourcing/effects/run-reaction.js';
import { counterAggregate, contextOf } from '../../support/kernel/counters.js';
import { makeMemoryReadModelStore } from '../../support/fakes/memory-read-model-store.js';
import { handlerWithoutViews, sendToCounter } from '../../support/kernel/world.js';
import {
  givenReactions,
  type ReactionScene,
  makeCountParcels,
  makeSendParcels,
  parcelAggregate,
  type ParcelAsked,
} from '../../support/kernel/reactions.js';
import {
  loadCheckpoint,
  makeSaveCheckpoint,
  dropCheckpoint,
} from '../../../src/event-sourcing/ports/records.js';
import { withRecordHooks } from '../../support/kernel/faulty-stores.js';
import { metadataOf } from '../../support/examples/metadata.js';

const name = 'send-parcels';
const contextMetadata = metadataOf('a', 'system');

async function checkpointOf({ readModelStore }: ReactionScene): Promise<string | null> {
  return (await loadCheckpoint(readModelStore, reactionCheckpoint({ name })))?.position ?? null;
}

test('A requested effect happens once and is recorded, and the checkpoint reaches the end of the log', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const runner = scene.start();
  await scene.clock.advance(0);
  await scene.ask(2, { stream: 'p2' });
  await scene.clock.advance(2_000);
  t.deepEqual(
    scene.sent.map(({ n }) => n),
    [1, 2],
  );
  t.deepEqual(await scene.marked(), [1, 2]);
  const head = await scene.eventStore.head();
  t.deepEqual(runner.statuses(), [
    {
      name,
      state: 'running',
      reason: null,
      position: head,
      open: 0,
      oldestOpenAt: null,
      atHead: true,
      quarantined: 0,
    },
  ]);
  await scene.clock.run(runner.stop());
  t.is(await checkpointOf(scene), head);
  t.is(scene.clock.sleepers, 0);
  t.deepEqual(scene.reports, []);
});

test('A reaction is not at the head of the log before it has read its end', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const runner = scene.start();
  t.like(runner.statuses()[0], { atHead: false });
  await scene.clock.advance(0);
  t.like(runner.statuses()[0], { atHead: true });
  await scene.clock.run(runner.stop());
});

test('An outcome names its cause, and its ids follow from the cause', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const runner = scene.start();
  await scene.clock.advance(0);
  await scene.clock.run(runner.stop());
  const [asked, marked] = await scene.eventStore.read('parcel-p1');
  t.like(marked?.metadata, {
    causation_id: asked?.id ?? '',
    correlation_id: asked?.metadata.correlation_id ?? '',
    actor: 'system:send-parcels',
    time: asked?.recordedAt.toISOString() ?? '',
  });
  t.true(validate(marked?.metadata.command_id));
  t.not(marked?.metadata.command_id, asked?.metadata.command_id);
});

test('A failed effect is tried again with growing waits, while other events are handled', async (t) => {
  const scene = givenReactions();
  const tries: number[] = [];
  const started = scene.clock.now().getTime();
  await scene.ask(1);
  await scene.ask(2);
  const runner = scene.start({
    send: ({ data }) => {
      if (data.n === 2) return Promise.resolve();
      tries.push(scene.clock.now().getTime() - started);
      return Promise.reject(new Error('no luck'));
    },
  });
  await scene.clock.advance(0);
  t.deepEqual(await scene.marked(), [2]);
  t.is(runner.statuses()[0]?.position, null, 'the checkpoint stays before the first event');
  t.is(runner.statuses()[0]?.open, 1);
  await scene.clock.advance(600_000);
  t.true(tries.length > 8 && tries.length < 60, `${tries.length} attempts in ten minutes`);
  const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  t.true(Math.max(...waits) <= 60_000);
  t.true(Math.max(...waits.slice(0, 2)) <= 4_000);
  t.true(scene.reports.includes('retry send-parcels 0: no luck'));
  await scene.clock.run(runner.stop());
});

test('An effect is cut off 45 s after its claim', async (t) => {
  const scene = givenReactions();
  const started = scene.clock.now().getTime();
  const abortedAfterMs: number[] = [];
  await scene.ask(1);
  const runner = scene.start({
    send: (_event, signal) =>
      // This effect receives the signal and goes on.
      new Promise(() => {
        signal.addEventListener('abort', () => abortedAfterMs.push(scene.clock.now().getTime() - started));
      }),
  });
  await scene.clock.advance(45_000);
  t.deepEqual(abortedAfterMs, [45_000]);
  t.regex(scene.reports[0] ?? '', /retry send-parcels 0: the effect was cut off/);
  await scene.clock.run(runner.stop());
});

test('An event that another process has claimed is read again when the claim ends', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  // Given a process that stops for good in the middle of its effect
  scene.start({
    holder: 'process 1',
    send: () => new Promise(() => undefined),
    deps: frozenAfter(scene, 1_000),
  });
  await scene.clock.advance(10_000);
  // When another process runs
  const runner = scene.start({ holder: 'process 2' });
  await scene.clock.advance(49_000);
  t.deepEqual(scene.sent, []);
  await scene.clock.advance(3_000);
  t.is(scene.sent.length, 1);
  t.deepEqual(await scene.marked(), [1]);
  await scene.clock.run(runner.stop());
});

test('An event that another process serves is settled soon after its outcome, long before the claim ends', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  // Given two processes that run the reaction at once, and an effect of 2 s
  const send = (): Promise<void> => scene.clock.sleep(2_000);
  const runners = ['process 1', 'process 2'].map((holder) => scene.start({ holder, send }));
  await scene.clock.advance(12_000);
  t.deepEqual(await scene.marked(), [1]);
  t.deepEqual(
    runners.map((runner) => runner.statuses()[0]?.open),
    [0, 0],
  );
  for (const runner of runners) await scene.clock.run(runner.stop());
});

/** Freezes a process after a time: it then receives nothing and does nothing. */
function frozenAfter({ clock }: ReactionScene, ms: number): { readonly clock: ReactionScene['clock'] } {
  const untilMs = clock.now().getTime() + ms;
  return {
    clock: {
      ...clock,
      sleep: async (sleepMs, signal) => {
        await clock.sleep(sleepMs, signal);
        if (clock.now().getTime() > untilMs) await new Promise(() => undefined);
      },
    },
  };
}

test('An effect that outlives its claim records its outcome only if no other process has', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  // Given a process whose clock stands still while it waits for its effect
  const frozen = frozenAfter(scene, 0);
  scene.start({ send: () => scene.clock.sleep(100_000), deps: frozen });
  await scene.clock.advance(1_000);
  const other = scene.start({ holder: 'process 2' });
  await scene.clock.advance(70_000);
  t.deepEqual(await scene.marked(), [1]);
  await scene.clock.advance(60_000);
  t.is(scene.sent.length, 2, 'a pause beyond the claim repeats the effect');
  t.deepEqual(await scene.marked(), [1], 'the outcome is recorded once');
  await scene.clock.run(other.stop());
});

test('An effect is not repeated when its outcome cannot be appended', async (t) => {
  const scene = givenReactions();
  let away = true;
  const { handler } = scene;
  await scene.ask(1);
  const reaction = makeSendParcels({
    handler: {
      ...handler,
      handle: (...args) =>
        away ? Promise.reject(new StoreUnavailable('no answer')) : handler.handle(...args),
    },
    send: ({ id, data }) => {
      scene.sent.push({ id, n: data.n, atMs: 0 });
      return Promise.resolve();
    },
  });
  const runner = scene.start({ reactions: [reaction] });
  const other = scene.start({ holder: 'process 2' });
  await scene.clock.advance(300_000);
  t.is(scene.sent.length, 1);
  t.deepEqual(await scene.marked(), []);
  away = false;
  await scene.clock.advance(60_000);
  t.is(scene.sent.length, 1);
  t.deepEqual(await scene.marked(), [1]);
  await scene.clock.run(Promise.all([runner.stop(), other.stop()]));
});

test('A reaction asks for nothing after the deadline of its event, which also cuts off the effect', async (t) => {
  const scene = givenReactions();
  await scene.ask(1, { withinMs: 1_000 });
  await scene.clock.advance(1_000);
  await scene.ask(2, { withinMs: 10_000 });
  let cutAtMs = 0;
  const runner = scene.start({
    send: async ({ data }, signal) => {
      t.is(data.n, 2);
      await scene.clock.sleep(20_000, signal).catch(() => {
        cutAtMs = scene.clock.now().getTime();
      });
      throw new Error('cut off');
    },
  });
  const started = scene.clock.now().getTime();
  await scene.clock.advance(9_999);
  t.is(runner.statuses()[0]?.open, 1);
  await scene.clock.advance(1);
  t.is(cutAtMs - started, 10_000);
  t.is(runner.statuses()[0]?.open, 0);
  t.is(runner.statuses()[0]?.position, await scene.eventStore.head());
  t.deepEqual(scene.sent, []);
  await scene.clock.run(runner.stop());
});

test('A lost checkpoint starts over and repeats no effect that has its outcome or has expired', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  await scene.ask(2, { withinMs: 1_000 });
  const refusing = scene.start({ send: ({ data }) => (data.n === 2 ? fails() : Promise.resolve()) });
  await scene.clock.advance(5_000);
  await scene.clock.run(refusing.stop());
  t.is(await checkpointOf(scene), await scene.eventStore.head());
  await dropCheckpoint(scene.readModelStore, reactionCheckpoint({ name }));
  const runner = scene.start();
  await scene.clock.advance(2_000);
  t.is(scene.sent.length, 1);
  t.is(await checkpointOf(scene), await scene.eventStore.head());
  await scene.clock.run(runner.stop());
});

function fails(): Promise<never> {
  return Promise.reject(new Error('it fails'));
}

test('A reaction takes at most 1,000 events after one that stays open', async (t) => {
  const scene = givenReactions();
  await scene.ask(0, { stream: 'first' });
  for (let n = 1; n <= aheadMax + 20; n += 1) await scene.ask(n, { stream: `p${n}` });
  let stuck = true;
  const runner = scene.start({ send: ({ data }) => (data.n === 0 && stuck ? fails() : Promise.resolve()) });
  await scene.clock.advance(30_000);
  t.is(scene.sent.length, aheadMax - 1);
  t.is(runner.statuses()[0]?.position, null);
  t.is(await checkpointOf(scene), null);
  stuck = false;
  await scene.clock.advance(62_000);
  t.is(scene.sent.length, aheadMax + 21);
  t.is(await checkpointOf(scene), await scene.eventStore.head());
  await scene.clock.run(runner.stop());
});

for (const [what, atOnceMax, most] of [
  ['8 effects', undefined, 8],
  ['as many effects as it names', 20, 20],
] as const) {
  test(`A reaction runs at most ${what} at once`, async (t) => {
    const scene = givenReactions();
    let [running, seen] = [0, 0];
    for (let n = 1; n <= 30; n += 1) await scene.ask(n);
    const send = async (): Promise<void> => {
      running += 1;
      seen = Math.max(seen, running);
      await scene.clock.sleep(100);
      running -= 1;
    };
    const parcels = makeSendParcels({ handler: scene.handler, send });
    const reactions = [{ ...parcels, ...(atOnceMax === undefined ? {} : { atOnceMax }) }];
    const runner = scene.start({ reactions });
    await scene.clock.advance(1_000);
    t.is(runner.statuses()[0]?.open, 0);
    t.is(seen, most);
    await scene.clock.run(runner.stop());
  });
}

test('The checkpoint of another log stops the reaction with a reason', async (t) => {
  const scene = givenReactions();
  await makeSaveCheckpoint(
    scene.readModelStore,
    reactionCheckpoint({ name }),
  )({
    logId: 'another log',
    position: '00',
  });
  const runner = scene.start();
  await scene.clock.advance(0);
  t.is(runner.statuses()[0]?.state, 'stopped');
  t.regex(runner.statuses()[0]?.reason ?? '', /send-parcels has followed the log another log, but .* delete/);
  await scene.clock.run(runner.stop());
});

test('The checkpoint of a log that was restored from an older backup stops the reaction with a reason', async (t) => {
  // Given a reaction that has sent four parcels
  const scene = givenReactions();
  for (const n of [1, 2, 3, 4]) await scene.ask(n);
  const before = scene.start();
  await scene.clock.until(() => scene.sent.length === 4);
  await scene.clock.run(before.stop());
  // When the log is restored to the first two parcels, and other parcels are requested meanwhile
  scene.eventStore.restore(2);
  for (let n = 5; n <= 12; n += 1) await scene.ask(n, { stream: 'p2' });
  const runner = scene.start();
  await scene.clock.advance(2_000);
  // Then the reaction stops and skips none of them
  t.is(runner.statuses()[0]?.state, 'stopped');
  t.regex(runner.statuses()[0]?.reason ?? '', /send-parcels has passed .* older one.*delete the read models/);
  t.is(scene.sent.length, 4);
  await scene.clock.run(runner.stop());
  // and without the checkpoint it handles every event of this log
  const handler = handlerWithoutViews(scene);
  const sent: number[] = [];
  const send = ({ data }: ParcelAsked): Promise<void> => Promise.resolve(void sent.push(data.n));
  const readModelStore = makeMemoryReadModelStore();
  const next = scene.start({ reactions: [makeSendParcels({ handler, send })], deps: { readModelStore } });
  await scene.clock.until(() => sent.length === 10);
  t.deepEqual(
    [...(await scene.marked())].toSorted((a, b) => a - b),
    [1, 2, 5, 6, 7, 8, 9, 10, 11, 12],
  );
  await scene.clock.run(next.stop());
});

test('A checkpoint that is saved at an unchanged position still names its log', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const first = scene.start();
  await scene.clock.until(() => scene.sent.length === 1);
  await scene.clock.run(first.stop());
  // An open event keeps the checkpoint at its position. The process saves it again when it ends.
  await scene.ask(2);
  const second = scene.start({ send: () => Promise.reject(new Error('no')) });
  await scene.clock.advance(2_000);
  await dropCheckpoint(scene.readModelStore, reactionCheckpoint({ name }));
  await scene.clock.run(second.stop());
  t.regex(
    (await loadCheckpoint(scene.readModelStore, reactionCheckpoint({ name })))?.fingerprint ?? '',
    /"parcel-p1"/,
  );
  scene.eventStore.restore(1);
  await scene.ask(3, { stream: 'p2' });
  await scene.ask(4, { stream: 'p2' });
  const third = scene.start();
  await scene.clock.advance(1_000);
  t.is(third.statuses()[0]?.state, 'stopped');
  await scene.clock.run(third.stop());
});

test('Two reactions of one name are refused, because they would move one checkpoint', (t) => {
  const scene = givenReactions();
  const reaction = makeSendParcels({ handler: scene.handler, send: () => Promise.resolve() });
  t.throws(() => scene.start({ reactions: [reaction, reaction] }), { message: /one name/ });
});

test('A reaction names stored types, retired ones included, and the start refuses a type that no codec knows', (t) => {
  const scene = givenReactions();
  const reaction = makeSendParcels({ handler: scene.handler, send: () => Promise.resolve() });
  t.throws(() => scene.start({ reactions: [{ ...reaction, types: ['ParcelAskd'] }] }), {
    message: /does not know ParcelAskd/,
  });
  const codec = makeEventCodec(
    { Asked2: z.strictObject({ n: z.int(), urgent: z.boolean() }) },
    { Asked: (data) => ({ type: 'Asked2', data: { ...data, urgent: false } }) },
  );
  const types = ['Asked', 'Asked2'];
  const both: AnyReaction = { ...reaction, category: 'parcel', codec, types };
  const stored = {
    ...{ id: 'an-id', stream: 'parcel-p1', revision: 0n, position: '1', recordedAt: new Date(0) },
    ...{ type: 'Asked', data: { n: 1 }, metadata: contextMetadata },
  };
  t.like(eventFor(both, stored), { type: 'Asked2', data: { n: 1, urgent: false } });
});

test('A reaction of commands takes no claim, and two processes record one outcome', async (t) => {
  const scene = givenReactions();
  await sendToCounter(scene.handler, 'sent', { type: 'Open', label: 'sent' }, 1);
  const target = { aggregate: parcelAggregate, id: 'p1' };
  await scene.ask(1);
  await scene.handler.handle(target, { type: 'MarkSent', n: 1 }, contextOf(900));
  const reactions = [makeCountParcels(scene)];
  const runners = [scene.start({ reactions }), scene.start({ reactions, holder: 'process 2' })];
  await scene.clock.advance(2_000);
  t.is((await scene.handler.load(counterAggregate, 'sent')).state.total, 1);
  t.deepEqual(await scene.stateStore.list('', { limit: 10 }), []);
  await scene.clock.run(Promise.all(runners.map((runner) => runner.stop())));
});

test('An effect that another process has finished before the claim is not repeated', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const sending = makeSendParcels({
    handler: scene.handler,
    send: () => {
      t.fail('the effect was repeated');
      return Promise.resolve();
    },
  });
  let looks = 0;
  const reactions: AnyReaction[] = [
    { ...sending, asks: () => Promise.resolve((looks += 1) === 1 ? 'yes' : 'no') },
  ];
  const runner = scene.start({ reactions });
  await scene.clock.advance(0);
  t.is(looks, 2);
  t.is(runner.statuses()[0]?.open, 0);
  await scene.clock.run(runner.stop());
});

test('A retried outcome is the same command', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const sending = makeSendParcels({ handler: scene.handler, send: () => Promise.resolve() });
  const contexts: CommandContext[] = [];
  const reactions: AnyReaction[] = [
    {
      ...sending,
      conclude: (event, context, result) => {
        contexts.push(context);
        return contexts.length < 3 ? fails() : sending.conclude(event, context, result);
      },
    },
  ];
  const runner = scene.start({ reactions });
  const other = scene.start({ reactions, holder: 'process 2' });
  await scene.clock.advance(120_000);
  t.is(contexts.length, 3);
  for (const context of contexts) t.deepEqual(context, contexts[0]);
  await scene.clock.run(Promise.all([runner.stop(), other.stop()]));
});

test('An event that is not due yet is read again each second', async (t) => {
  const scene = givenReactions();
  let ready = false;
  const sending = makeSendParcels({ handler: scene.handler, send: () => Promise.resolve() });
  const reactions: AnyReaction[] = [
    { ...sending, asks: (event) => (ready ? sending.asks(event) : Promise.resolve('not-yet')) },
  ];
  await scene.ask(1);
  const runner = scene.start({ reactions });
  await scene.clock.advance(60_000);
  t.deepEqual(await scene.marked(), []);
  t.deepEqual(scene.reports, []);
  ready = true;
  await scene.clock.advance(1_000);
  t.deepEqual(await scene.marked(), [1]);
  await scene.clock.run(runner.stop());
});

test('A stop lets an effect finish, and cuts off one that takes longer than 5 s', async (t) => {
  const scene = givenReactions();
  await scene.ask(1, { stream: 'p1' });
  await scene.ask(2, { stream: 'p2' });
  const runner = scene.start({
    send: ({ data }, signal) => scene.clock.sleep(data.n === 1 ? 4_000 : 40_000, signal),
  });
  await scene.clock.advance(100);
  const stopping = runner.stop();
  await scene.ask(3, { stream: 'p3' });
  const before = scene.clock.now().getTime();
  await scene.clock.run(stopping);
  t.is(scene.clock.now().getTime() - before, 5_000);
  t.deepEqual(await scene.marked(), [1]);
  t.is(scene.clock.sleepers, 0);
  // The next start continues where this one ended.
  const next = scene.start({ holder: 'process 2' });
  await scene.clock.advance(120_000);
  t.deepEqual(await scene.marked(), [1, 3, 2]);
  await scene.clock.run(next.stop());
});

test('A checkpoint that cannot be saved is saved later', async (t) => {
  const scene = givenReactions();
  let away = true;
  const readModelStore = withRecordHooks(scene.readModelStore, {
    save: (_, pass) => (away ? Promise.reject(new StoreUnavailable('no answer')) : pass()),
  });
  await scene.ask(1);
  const runner = scene.start({ deps: { readModelStore } });
  await scene.clock.advance(5_000);
  t.true(scene.reports.some((report) => report.includes('no answer')));
  t.is(await checkpointOf(scene), null);
  away = false;
  await scene.clock.advance(1_000);
  t.is(await checkpointOf(scene), await scene.eventStore.head());
  await scene.clock.run(runner.stop());
});
