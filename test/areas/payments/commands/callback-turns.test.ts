import test from 'ava';
import { makeCallbackTurns } from '../../../../src/areas/payments/commands/callbacks/callback-turns.js';
import { makePace } from '../../../../src/kit/read-in-turns.js';

/** Given turns whose pauses the test ends, and a clock that it moves. */
function given() {
  let nowMs = 0;
  const pauses: (() => void)[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const turns = makeCallbackTurns({
    clock: { steadyMs: () => nowMs },
    pace: makePace((next) => setImmediate(next)),
    pause: () => new Promise((resolve) => pauses.push(resolve)),
  });
  const begun: string[] = [];
  return {
    ...{ turns, begun, settle },
    advance: (ms: number) => {
      nowMs += ms;
    },
    send: (client: string, name = client) => {
      void turns.wait(client, 1_000).then(() => begun.push(name));
    },
    endPauses: async (times: number) => {
      for (let index = 0; index < times; index += 1) {
        pauses.shift()?.();
        await settle();
        await settle();
      }
    },
  };
}

test('Callbacks of a client with failed signatures wait behind all others, and get their turn', async (t) => {
  const { turns, begun, send, settle, endPauses } = given();
  turns.refused('attacker', 1_000);
  send('attacker');
  send('platform');
  await settle();
  t.deepEqual(begun, ['platform']);
  send('other platform');
  await settle();
  t.deepEqual(begun, ['platform', 'other platform']);
  await endPauses(1);
  t.deepEqual(begun, ['platform', 'other platform', 'attacker']);
});

test('Among clients with failed signatures, the one with the least refused work is first', async (t) => {
  const { turns, begun, send, endPauses } = given();
  turns.refused('large', 250_000);
  turns.refused('small', 100);
  for (const name of ['large 1', 'large 2', 'large 3']) send('large', name);
  send('small');
  await endPauses(4);
  t.deepEqual(begun, ['small', 'large 1', 'large 2', 'large 3']);
});

test('Refused work is forgotten with time', async (t) => {
  const { turns, begun, send, settle, advance } = given();
  turns.refused('proxy', 1_000);
  advance(3_600_000);
  send('proxy');
  await settle();
  t.deepEqual(begun, ['proxy']);
});
