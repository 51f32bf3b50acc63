import test from 'ava';
import { makePace, turnBytesMax, turnElementsMax } from '../../src/kit/read-in-turns.js';

/** Given a pace whose turns end by hand. */
function given() {
  const yields: (() => void)[] = [];
  const pace = makePace((next) => yields.push(next));
  const begun: string[] = [];
  return {
    begun,
    /** Spends, and notes the name when the work may begin. */
    spend: async (name: string, bytes: number, elements = 0) => {
      await pace.spend({ bytes, elements });
      begun.push(name);
    },
    endTurn: async () => {
      yields.shift()?.();
      await new Promise(setImmediate);
    },
  };
}

test('Work begins at once until the turn is full, then in the order of the calls', async (t) => {
  const { spend, begun, endTurn } = given();
  const all = [
    spend('a', turnBytesMax - 1),
    spend('b', 1),
    spend('c', 2),
    spend('d', turnBytesMax - 2),
    spend('e', 1),
  ];
  await new Promise(setImmediate);
  t.deepEqual(begun, ['a', 'b']);
  await endTurn();
  t.deepEqual(begun, ['a', 'b', 'c', 'd']);
  await endTurn();
  await Promise.all(all);
  t.deepEqual(begun, ['a', 'b', 'c', 'd', 'e']);
});

test('Small work waits behind larger work that waits, so none starves', async (t) => {
  const { spend, begun, endTurn } = given();
  const all = [spend('a', 1), spend('large', turnBytesMax), spend('small', 1)];
  await new Promise(setImmediate);
  t.deepEqual(begun, ['a']);
  await endTurn();
  t.deepEqual(begun, ['a', 'large']);
  await endTurn();
  await Promise.all(all);
  t.deepEqual(begun, ['a', 'large', 'small']);
});

test('Elements fill a turn too, and work above a turn gets one for itself', async (t) => {
  const { spend, begun, endTurn } = given();
  const all = [spend('a', 10, turnElementsMax), spend('b', 10, 1), spend('huge', 2 * turnBytesMax)];
  await new Promise(setImmediate);
  t.deepEqual(begun, ['a']);
  await endTurn();
  t.deepEqual(begun, ['a', 'b']);
  await endTurn();
  await Promise.all(all);
  t.deepEqual(begun, ['a', 'b', 'huge']);
});
