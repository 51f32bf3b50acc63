import test from 'ava';
import type { HandleOptions } from '../../../src/event-sourcing/deciding/command-handler.js';
import {
  counterAggregate,
  type CounterCommand,
  type CounterState,
  contextOf,
} from '../../support/kernel/counters.js';
import { givenWorld, handlerWithoutViews } from '../../support/kernel/world.js';
import { recording } from '../../support/kernel/faulty-stores.js';

const open: CounterCommand = { type: 'Open', label: 'a' };
const add = (n: number, amount: number): CounterCommand => ({
  type: 'Add',
  operation: `o${n}`,
  amounts: [amount],
});
const target = { aggregate: counterAggregate, id: 'c1' };
const other = { aggregate: counterAggregate, id: 'c2' };

test('A command may carry another one, which is left out where it is refused, and is then repeated in vain', async (t) => {
  // Given a store that writes further events with an append
  const { clock, random, eventStore: log } = givenWorld();
  const { store, appends } = recording(log, () => clock.now().getTime());
  const handler = handlerWithoutViews({
    ...{ clock, random },
    eventStore: {
      ...store,
      append: async (stream, expected, events, { further, ...options } = {}) => {
        const appended = await store.append(stream, expected, events, options);
        const following = (await further?.()) ?? null;
        if (following === null) return appended;
        await log.append(following.stream, following.expected, following.events);
        following.written();
        return appended;
      },
    },
  });
  await handler.handle(target, open, contextOf(0));
  const carrying = (n: number): HandleOptions<CounterState> => ({
    further: ({ total }, prepare) => prepare(other, add(n, total), contextOf(n)),
  });
  // When the other counter is not open, nothing is added to it
  await handler.handle(target, add(1, 5), contextOf(1), carrying(1));
  t.deepEqual(await log.read('counter-c2'), []);
  // When it is open, it learns the total after the command
  await handler.handle(other, open, contextOf(2));
  await handler.handle(target, add(3, 2), contextOf(3), carrying(3));
  t.like(await handler.load(counterAggregate, 'c2', 'remembered'), { revision: 1n, state: { total: 7 } });
  // Then the other command appends nothing more
  appends.length = 0;
  const repeated = await handler.handle(other, add(3, 7), contextOf(3), { load: 'remembered' });
  t.deepEqual([repeated.events, appends], [[], []]);
});
