import test from 'ava';
import type { AnyReaction } from '../../../src/event-sourcing/effects/reaction.js';
import { aheadMax } from '../../../src/event-sourcing/effects/run-reaction.js';
import { givenReactions, makeSendParcels } from '../../support/kernel/reactions.js';

/** Given a reaction whose effects take 5 s for the account `slow`, and no time for others. The stream begins with the account. */
function given() {
  const scene = givenReactions();
  const began: string[] = [];
  const sending = makeSendParcels({
    handler: scene.handler,
    send: async ({ stream }, signal) => {
      const account = accountOf(stream);
      began.push(account);
      if (account === 'slow') await scene.clock.sleep(5_000, signal);
    },
  });
  const reaction: AnyReaction = {
    ...sending,
    ...{ atOnceMax: 16, hasTimers: true },
    account: ({ stream }) => Promise.resolve(accountOf(stream)),
  };
  return { scene, began, start: () => scene.start({ reactions: [reaction] }) };
}

function accountOf(stream: string): string {
  return stream.slice('parcel-'.length).split('.')[0] ?? '';
}

test('Slow effects of one account hold up no event of another account', async (t) => {
  const { scene, began, start } = given();
  for (let n = 1; n <= 50; n += 1) await scene.ask(n, { stream: `slow.${n}` });
  await scene.ask(51, { stream: 'other.1' });
  const runner = start();
  await scene.clock.advance(100);
  t.deepEqual(await scene.marked(), [51]);
  t.deepEqual(began, ['slow', 'slow', 'other']);
  await scene.clock.advance(200_000);
  t.is((await scene.marked()).length, 51);
  t.deepEqual(scene.reports, []);
  await scene.clock.run(runner.stop());
});

test('More events of one account than a reaction takes ahead hold up no other account, and all are served', async (t) => {
  const { scene, start } = given();
  const many = aheadMax + 100;
  for (let n = 1; n <= many; n += 1) await scene.ask(n, { stream: `slow.${n}` });
  await scene.ask(many + 1, { stream: 'other.1' });
  const runner = start();
  await scene.clock.advance(4_000);
  t.deepEqual(await scene.marked(), [many + 1]);
  await scene.clock.advance(2 * 3_600_000);
  t.is((await scene.marked()).length, many + 1);
  t.deepEqual(await scene.stateStore.list('timer/', { limit: 1 }), []);
  t.deepEqual(scene.reports, []);
  await scene.clock.run(runner.stop());
});
