import test from 'ava';
import { reactionCheckpoint } from '../../../src/event-sourcing/effects/run-reaction.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { rejectedBy } from '../../../src/kit/time/time-limit.js';
import { givenReactions } from '../../support/kernel/reactions.js';
import { loadCheckpoint } from '../../../src/event-sourcing/ports/records.js';

for (const hours of [1, -1]) {
  test(`An effect is cut off 45 s after its claim, when the wall clock is set by ${hours} h in between`, async (t) => {
    const scene = givenReactions();
    let isSet = false;
    const stateStore: StateStore = {
      ...scene.stateStore,
      compareAndSet: async (...args) => {
        const version = await scene.stateStore.compareAndSet(...args);
        if (!isSet) scene.clock.set(hours * 3_600_000);
        isSet = true;
        return version;
      },
    };
    await scene.ask(1);
    const startedMs = scene.clock.steadyMs();
    const cutAfterMs: number[] = [];
    const runner = scene.start({
      deps: { stateStore },
      send: (_event, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            cutAfterMs.push(scene.clock.steadyMs() - startedMs);
            reject(signal.reason as Error);
          });
        }),
    });
    await scene.clock.advance(46_000);
    t.deepEqual(cutAfterMs, [45_000]);
    await scene.clock.run(runner.stop());
  });
}

test('A reaction saves its checkpoint while the wall clock is set back', async (t) => {
  const scene = givenReactions();
  await scene.ask(1);
  const runner = scene.start();
  await scene.clock.advance(2_000);
  scene.clock.set(-3_600_000);
  scene.eventStore.appendForeign();
  await scene.clock.advance(11_000);
  const checkpoint = await loadCheckpoint(scene.readModelStore, reactionCheckpoint({ name: 'send-parcels' }));
  t.is(checkpoint?.position, (await scene.eventStore.head()) ?? '');
  await scene.clock.run(runner.stop());
});

test('The claim of a process that died while its clock was a year ahead ends within two minutes', async (t) => {
  // Given a process with such a clock, which ends within the effect
  const scene = givenReactions();
  await scene.ask(1);
  const ahead = { ...scene.clock, now: () => new Date(scene.clock.now().getTime() + 365 * 86_400_000) };
  const hangs = (_: unknown, signal: AbortSignal) => rejectedBy(signal);
  const died = scene.start({ deps: { clock: ahead }, send: hangs });
  await scene.clock.advance(2_000);
  await scene.clock.run(died.stop());
  const startedMs = scene.clock.now().getTime();
  // When another process serves the event
  const runner = scene.start({ holder: 'process 2' });
  await scene.clock.advance(300_000);
  // Then the claim has kept its time, and no more
  const waited = scene.sent.map(({ n, atMs }) => [n, Math.floor((atMs - startedMs) / 60_000)]);
  t.deepEqual(waited, [[1, 2]]);
  await scene.clock.run(runner.stop());
});
