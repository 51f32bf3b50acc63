import test from 'ava';
import { validate } from 'uuid';
import { z } from 'zod';
import { makeEventCodec } from '../../src/event-sourcing/event-codec.js';
import { StoreUnavailable } from '../../src/event-sourcing/errors.js';
import type { CommandContext } from '../../src/event-sourcing/command-handler.js';
import { type AnyReaction, showsUpTo } from '../../src/event-sourcing/reaction.js';
import { aheadMax, markName } from '../../src/event-sourcing/run-reaction.js';
import { makeCommandHandler } from '../../src/event-sourcing/make-command-handler.js';
import { makeSeededRandom } from '../support/clock.js';
import { counterAggregate } from '../support/counter-aggregate.js';
import { countersProjection } from '../support/counter-views.js';
import { makeMemoryReadModelStore } from '../support/memory-read-model-store.js';
import { contextOf, sendToCounter } from './support/given-process.js';
import { givenReactions, type ReactionScene } from './support/given-reactions.js';
import { makeCountParcels, makeSendParcels, parcelAggregate, type ParcelAsked } from './support/parcels.js';

const name = 'send-parcels';

async function markOf({ readModels }: ReactionScene): Promise<string | null> {
  return (await readModels.loadCheckpoint(markName({ name })))?.position ?? null;
}

test('what is asked for is done once and recorded, and the mark comes to the end of the log', async (t) => {
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
  const head = await scene.log.head();
  t.deepEqual(runner.statuses(), [
    { name, state: 'running', reason: null, position: head, open: 0, oldestOpenAt: null, atHead: true },
  ]);
  await scene.clock.run(runner.stop());
  t.is(await markOf(scene), head);
  t.is(scene.clock.sleepers, 0);
  t.deepEqual(scene.reports, []);
});

test('the outcome names its cause, and its ids follow from it', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const runner = scene.start();
  await scene.clock.advance(0);
  await scene.clock.run(runner.stop());
  const [asked, marked] = await scene.log.read('parcel-p1');
  t.like(marked?.metadata, {
    causation_id: asked?.id ?? '',
    correlation_id: asked?.metadata.correlation_id ?? '',
    actor: 'system:send-parcels',
    time: asked?.recordedAt.toISOString() ?? '',
  });
  t.true(validate(marked?.metadata.command_id));
  t.not(marked?.metadata.command_id, asked?.metadata.command_id);
});

test('a failure is tried again, later and later, while others are served', async (t) => {
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
  t.is(runner.statuses()[0]?.position, null, 'the mark waits before the first');
  t.is(runner.statuses()[0]?.open, 1);
  await scene.clock.advance(600_000);
  t.true(tries.length > 8 && tries.length < 60, `${tries.length} tries in ten minutes`);
  const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  t.true(Math.max(...waits) <= 60_000);
  t.true(Math.max(...waits.slice(0, 2)) <= 4_000);
  t.true(scene.reports.includes('retry send-parcels 0: no luck'));
  await scene.clock.run(runner.stop());
});

test('an effect is cut off 45 s after its claim', async (t) => {
  const scene = givenReactions();
  const started = scene.clock.now().getTime();
  const abortedAfterMs: number[] = [];
  await scene.ask(1);
  const runner = scene.start({
    send: (_event, signal) =>
      // It hears the signal and goes on all the same.
      new Promise(() => {
        signal.addEventListener('abort', () => {
          abortedAfterMs.push(scene.clock.now().getTime() - started);
        });
      }),
  });
  await scene.clock.advance(45_000);
  t.deepEqual(abortedAfterMs, [45_000]);
  t.regex(scene.reports[0] ?? '', /retry send-parcels 0: the effect was cut off/);
  await scene.clock.run(runner.stop());
});

test('what another process has claimed is looked at again when its claim ends', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  // Given a process that stops for good in the middle of its effect.
  scene.start({
    holder: 'process 1',
    send: () => new Promise(() => undefined),
    deps: frozenAfter(scene, 1_000),
  });
  await scene.clock.advance(10_000);
  // When another one is there.
  const runner = scene.start({ holder: 'process 2' });
  await scene.clock.advance(49_000);
  t.deepEqual(scene.sent, []);
  await scene.clock.advance(3_000);
  t.is(scene.sent.length, 1);
  t.deepEqual(await scene.marked(), [1]);
  await scene.clock.run(runner.stop());
});

/** From then on a process hears of nothing any more and does nothing. */
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

test('an effect that outlives its claim records its outcome only if nobody else has', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  // Given a process whose clock stands still while it waits for its effect.
  const frozen = frozenAfter(scene, 0);
  scene.start({ send: () => scene.clock.sleep(100_000), deps: frozen });
  await scene.clock.advance(1_000);
  const other = scene.start({ holder: 'process 2' });
  await scene.clock.advance(70_000);
  t.deepEqual(await scene.marked(), [1]);
  await scene.clock.advance(60_000);
  t.is(scene.sent.length, 2, 'a pause beyond the claim may repeat the effect');
  t.deepEqual(await scene.marked(), [1], 'and never the outcome');
  await scene.clock.run(other.stop());
});

test('when an outcome cannot be appended the effect is not repeated', async (t) => {
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

test('after its deadline nothing is asked, and the effect is cut off by it', async (t) => {
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
  t.is(runner.statuses()[0]?.position, await scene.log.head());
  t.deepEqual(scene.sent, []);
  await scene.clock.run(runner.stop());
});

test('a lost mark begins anew and repeats nothing that has its outcome or has expired', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  await scene.ask(2, { withinMs: 1_000 });
  const refusing = scene.start({ send: ({ data }) => (data.n === 2 ? fails() : Promise.resolve()) });
  await scene.clock.advance(5_000);
  await scene.clock.run(refusing.stop());
  t.is(await markOf(scene), await scene.log.head());
  await scene.readModels.dropCollection(markName({ name }));
  const runner = scene.start();
  await scene.clock.advance(2_000);
  t.is(scene.sent.length, 1);
  t.is(await markOf(scene), await scene.log.head());
  await scene.clock.run(runner.stop());
});

function fails(): Promise<never> {
  return Promise.reject(new Error('it fails'));
}

test('no more than 1,000 events are taken past one that stays open', async (t) => {
  const scene = givenReactions();
  await scene.ask(0, { stream: 'first' });
  for (let n = 1; n <= aheadMax + 20; n += 1) await scene.ask(n, { stream: `p${n}` });
  let stuck = true;
  const runner = scene.start({ send: ({ data }) => (data.n === 0 && stuck ? fails() : Promise.resolve()) });
  await scene.clock.advance(30_000);
  t.is(scene.sent.length, aheadMax - 1);
  t.is(runner.statuses()[0]?.position, null);
  t.is(await markOf(scene), null);
  stuck = false;
  await scene.clock.advance(62_000);
  t.is(scene.sent.length, aheadMax + 21);
  t.is(await markOf(scene), await scene.log.head());
  await scene.clock.run(runner.stop());
});

for (const [what, atOnceMax, most] of [
  ['8 effects', undefined, 8],
  ['as many effects as a reaction says', 20, 20],
] as const) {
  test(`no more than ${what} run at once`, async (t) => {
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

test('an event that cannot be decoded stops its reaction, with a sentence, and no other', async (t) => {
  const scene = givenReactions();
  await sendToCounter(scene.handler, 'sent', { type: 'Open', label: 'sent' }, 1);
  await scene.ask(1);
  const strict: AnyReaction = {
    ...makeSendParcels({ handler: scene.handler, send: () => Promise.resolve() }),
    name: 'strict',
    types: ['ParcelSent'],
    codec: makeEventCodec({ ParcelSent: z.strictObject({ n: z.string() }) }),
  };
  const reactions = [strict, makeSendParcels({ handler: scene.handler, send: () => Promise.resolve() })];
  const runner = scene.start({ reactions });
  await scene.clock.advance(1_000);
  const [stopped, going] = runner.statuses();
  t.is(stopped?.state, 'stopped');
  t.regex(stopped?.reason ?? '', /ParcelSent \(parcel-p1 at revision 1\)/);
  t.is(going?.state, 'running');
  t.is(scene.reports.filter((report) => report.startsWith('stopped strict')).length, 1);
  await scene.ask(2);
  await scene.clock.advance(1_000);
  t.deepEqual(await scene.marked(), [1, 2]);
  await scene.clock.run(runner.stop());
  const checkpoint = await scene.readModels.loadCheckpoint(markName({ name: 'strict' }));
  t.true((checkpoint?.position ?? '') < ((await scene.log.head()) ?? ''), 'it has not passed the event');
});

test('the mark of another log stops the reaction, with a sentence', async (t) => {
  const scene = givenReactions();
  await scene.readModels.saveCheckpoint(markName({ name }), { logId: 'another log', position: '00' });
  const runner = scene.start();
  await scene.clock.advance(0);
  t.is(runner.statuses()[0]?.state, 'stopped');
  t.regex(runner.statuses()[0]?.reason ?? '', /send-parcels has followed the log another log, but .* delete/);
  await scene.clock.run(runner.stop());
});

test('the mark of a log that was restored from an older backup stops the reaction, with a sentence', async (t) => {
  // Given a reaction that has sent four parcels
  const scene = givenReactions();
  for (const n of [1, 2, 3, 4]) await scene.ask(n);
  const before = scene.start();
  await scene.clock.until(() => scene.sent.length === 4);
  await scene.clock.run(before.stop());
  // When the log is put back to where two had been asked for, and others ask meanwhile
  scene.log.restore(2);
  for (let n = 5; n <= 12; n += 1) await scene.ask(n, { stream: 'p2' });
  const runner = scene.start();
  await scene.clock.advance(2_000);
  // Then it says so, and passes none of them over
  t.is(runner.statuses()[0]?.state, 'stopped');
  t.regex(runner.statuses()[0]?.reason ?? '', /send-parcels has passed .* older one.*delete the read models/);
  t.is(scene.sent.length, 4);
  await scene.clock.run(runner.stop());
  // and once the mark is gone, everything that is asked for in this log is done.
  const documentWriter = { viewsOf: () => [], write: () => Promise.resolve() };
  const { log: eventStore, clock } = scene;
  const handler = makeCommandHandler({ eventStore, documentWriter, clock, random: makeSeededRandom(2) });
  const sent: number[] = [];
  const send = ({ data }: ParcelAsked): Promise<void> => Promise.resolve(void sent.push(data.n));
  const readModelStore = makeMemoryReadModelStore();
  const anew = scene.start({ reactions: [makeSendParcels({ handler, send })], deps: { readModelStore } });
  await scene.clock.until(() => sent.length === 10);
  t.deepEqual(
    [...(await scene.marked())].toSorted((a, b) => a - b),
    [1, 2, 5, 6, 7, 8, 9, 10, 11, 12],
  );
  await scene.clock.run(anew.stop());
});

test('a mark that rests where it was found still knows its log', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const first = scene.start();
  await scene.clock.until(() => scene.sent.length === 1);
  await scene.clock.run(first.stop());
  // An event that stays open keeps the mark where it is; it is saved again when the process ends.
  await scene.ask(2);
  const second = scene.start({ send: () => Promise.reject(new Error('no')) });
  await scene.clock.advance(2_000);
  await scene.readModels.dropCollection(markName({ name }));
  await scene.clock.run(second.stop());
  t.regex((await scene.readModels.loadCheckpoint(markName({ name })))?.fingerprint ?? '', /"parcel-p1"/);
  scene.log.restore(1);
  await scene.ask(3, { stream: 'p2' });
  await scene.ask(4, { stream: 'p2' });
  const third = scene.start();
  await scene.clock.advance(1_000);
  t.is(third.statuses()[0]?.state, 'stopped');
  await scene.clock.run(third.stop());
});

test('two reactions of one name are refused, for they would move one mark', (t) => {
  const scene = givenReactions();
  const reaction = makeSendParcels({ handler: scene.handler, send: () => Promise.resolve() });
  t.throws(() => scene.start({ reactions: [reaction, reaction] }), { message: /one name/ });
});

test('a reaction of commands alone takes no claim; in two processes its outcome is one', async (t) => {
  const scene = givenReactions();
  await sendToCounter(scene.handler, 'sent', { type: 'Open', label: 'sent' }, 1);
  const target = { aggregate: parcelAggregate, id: 'p1' };
  await scene.ask(1);
  await scene.handler.handle(target, { type: 'MarkSent', n: 1 }, contextOf(900));
  const reactions = [makeCountParcels(scene)];
  const runners = [scene.start({ reactions }), scene.start({ reactions, holder: 'process 2' })];
  await scene.clock.advance(2_000);
  t.is((await scene.handler.load(counterAggregate, 'sent')).state.total, 1);
  t.deepEqual(await scene.state.list('', { limit: 10 }), []);
  await scene.clock.run(Promise.all(runners.map((runner) => runner.stop())));
});

test('what another process finished before the claim was taken is not done again', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const sending = makeSendParcels({
    handler: scene.handler,
    send: () => {
      t.fail('it was done again');
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

test('an outcome that is tried again is the same command', async (t) => {
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

test('a reaction can wait for a view that shows its event', (t) => {
  const view = { name: 'counters' };
  const runnerAt = (position: string | null, name = 'counters') => ({
    live: () => ({
      reached: true,
      statuses: [
        {
          projection: { ...countersProjection, name },
          ...{ collection: 'counters@1.1', state: 'live' as const, reason: null },
          ...{ position, atHead: true, lastEventAt: null },
        },
      ],
    }),
  });
  t.true(showsUpTo(runnerAt('05'), view, '05'));
  t.true(showsUpTo(runnerAt('06'), view, '05'));
  t.false(showsUpTo(runnerAt('04'), view, '05'));
  t.false(showsUpTo(runnerAt(null), view, '05'));
  t.false(showsUpTo(runnerAt('06', 'others'), view, '05'));
});

test('what is not to be done yet is looked at again each second', async (t) => {
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

test('a stop lets an effect finish, and cuts off one that takes longer than 5 s', async (t) => {
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
  // The next start goes on where this one ended.
  const next = scene.start({ holder: 'process 2' });
  await scene.clock.advance(120_000);
  t.deepEqual(await scene.marked(), [1, 3, 2]);
  await scene.clock.run(next.stop());
});

test('a mark that cannot be saved for a while is saved later', async (t) => {
  const scene = givenReactions();
  let away = true;
  const readModelStore = {
    ...scene.readModels,
    saveCheckpoint: (...args: Parameters<typeof scene.readModels.saveCheckpoint>) =>
      away ? Promise.reject(new StoreUnavailable('no answer')) : scene.readModels.saveCheckpoint(...args),
  };
  await scene.ask(1);
  const runner = scene.start({ deps: { readModelStore } });
  await scene.clock.advance(5_000);
  t.true(scene.reports.some((report) => report.includes('no answer')));
  t.is(await markOf(scene), null);
  away = false;
  await scene.clock.advance(1_000);
  t.is(await markOf(scene), await scene.log.head());
  await scene.clock.run(runner.stop());
});
