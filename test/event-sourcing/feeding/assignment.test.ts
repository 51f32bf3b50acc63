import fc from 'fast-check';
import test from 'ava';
import {
  feederOf,
  nameOf,
  reactionPart,
  taskPart,
  viewPart,
} from '../../../src/event-sourcing/feeding/sharing/assignment.js';

const parts = Array.from({ length: 40 }, (_, n) =>
  n % 2 === 0 ? viewPart(`view${n}@1`) : reactionPart(`react-${n}`),
);
const candidatesOf = (ids: readonly string[]) => ids.map((id) => ({ id, parts }));

test('All processes assign a part to the same process, in any order of the list', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 8 }), (ids) => {
      for (const part of parts) {
        const feeder = feederOf(part, candidatesOf(ids));
        t.true(ids.includes(feeder ?? 'none'));
        t.is(feederOf(part, candidatesOf(ids.toReversed())), feeder);
      }
    }),
    { numRuns: 50 },
  );
});

test('A process that leaves moves its own parts and no other', (t) => {
  const ids = ['a', 'b', 'c', 'd'];
  for (const part of parts) {
    const feeder = feederOf(part, candidatesOf(ids));
    const without = feederOf(part, candidatesOf(ids.filter((id) => id !== 'c')));
    if (feeder !== 'c') t.is(without, feeder);
    else t.not(without, 'c');
  }
});

test('One of the processes feeds all views and reactions, and another one after its end', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 8 }), (ids) => {
      const feeders = new Set(parts.map((part) => feederOf(part, candidatesOf(ids))));
      t.is(feeders.size, 1);
      const rest = ids.filter((id) => !feeders.has(id));
      t.is(new Set(parts.map((part) => feederOf(part, candidatesOf(rest)))).size, 1);
    }),
    { numRuns: 50 },
  );
});

test('Tasks that read no log fall to processes one by one', (t) => {
  const tasks = Array.from({ length: 40 }, (_, n) => taskPart(`task-${n}`));
  const candidates = candidatesOf(['a', 'b', 'c', 'd']).map((one) => ({ ...one, parts: tasks }));
  t.is(new Set(tasks.map((part) => feederOf(part, candidates))).size, 4);
});

test('A part falls to a process whose code has it, and to none when no code has it', (t) => {
  const [older, newer] = [viewPart('users@1'), viewPart('users@2')];
  const candidates = [
    { id: 'old release', parts: [older] },
    { id: 'new release', parts: [newer] },
  ];
  t.is(feederOf(older, candidates), 'old release');
  t.is(feederOf(newer, candidates), 'new release');
  t.is(feederOf(viewPart('users@3'), candidates), null);
});

test('A part is named in sentences', (t) => {
  t.is(nameOf(viewPart('users@1')), 'the view users@1');
  t.is(nameOf(reactionPart('mail-codes')), 'the reaction mail-codes');
});
