import test from 'ava';

import { auditCollection } from '../../src/audit/tile-store.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import {
  type AuditProcess,
  eventually,
  givenAuditStores,
  makeAuditEvent,
  readWholeLog,
  rootOfEvents,
} from '../support/audit/audit-scene.js';

/** Two processes on one log, of which the first one sequences until the role moves. */
function givenTwo(seed: number) {
  const given = givenAuditStores(seed);
  let subscriptions = 0;
  const counted: EventStore = {
    ...given.eventStore,
    subscribe: (options) => {
      subscriptions += 1;
      return given.eventStore.subscribe(options);
    },
  };
  let sequences: 'first' | 'second' = 'first';
  const start = (): readonly [AuditProcess, AuditProcess] => [
    given.start({ isHere: () => sequences === 'first' }),
    given.start({ eventStore: counted, isHere: () => sequences === 'second' }),
  ];
  return {
    ...given,
    start,
    subscriptionsOfSecond: () => subscriptions,
    move: () => {
      sequences = 'second';
    },
  };
}

async function showsSigned({ audit }: AuditProcess, size: number): Promise<void> {
  await eventually(`a status of ${size} signed events`, () => {
    const { log, signed } = audit.status();
    return log?.size === size && signed?.size === size;
  });
}

test('A process that does not sequence reads no log, and shows what the other process has signed', async (t) => {
  const { append, start, subscriptionsOfSecond } = givenTwo(1);
  await append(300);
  const [first, second] = start();
  await showsSigned(first, 300);
  await showsSigned(second, 300);
  t.is(second.sequencer.stored(), null);
  t.is(subscriptionsOfSecond(), 0);
  t.is(second.audit.status().contradiction, null);
  await Promise.all([first.stop(), second.stop()]);
});

test('A process that takes the sequencing over continues the tree of the other one', async (t) => {
  // Given a signed log
  const { append, start, move, eventStore } = givenTwo(2);
  await append(300);
  const [first, second] = start();
  await showsSigned(second, 300);
  // When the role moves, and the log grows
  move();
  await eventually('the first process has ended', () => first.sequencer.stored() === null);
  await append(500);
  // Then both show the signature of the second one
  await showsSigned(second, 800);
  await showsSigned(first, 800);
  t.deepEqual(await second.tree.rootAt(800), rootOfEvents(await readWholeLog(eventStore)));
  await Promise.all([first.stop(), second.stop()]);
});

test('A tile that only another process misses is written again', async (t) => {
  // Given a signed log whose tiles are lost
  const { append, start, readModelStore, eventStore } = givenTwo(3);
  await append(600);
  const [first, second] = start();
  await showsSigned(second, 600);
  await readModelStore.dropCollection(auditCollection);
  await readModelStore.ensureCollection(auditCollection, []);
  // When the process that does not sequence reads a proof until it succeeds
  await eventually('a proof', () =>
    second.tree.inclusion(10, 600).then(
      () => true,
      () => false,
    ),
  );
  // Then the tree is whole
  t.deepEqual(await second.tree.rootAt(600), rootOfEvents(await readWholeLog(eventStore)));
  await Promise.all([first.stop(), second.stop()]);
});

test('All processes show why the sequencing has stopped, until it goes on', async (t) => {
  // Given an event that has no leaf
  const { append, start, eventStore, random } = givenTwo(4);
  await append(20);
  const text = JSON.stringify('\ud800');
  const bad = { ...makeAuditEvent(random, 1), data: { text: JSON.parse(text) as string } };
  await eventStore.append('asset-bad', 'no-stream', [bad]);
  const [first, second] = start();
  // When the first process stops at it
  await eventually('the problem', () => first.audit.status().problem !== null);
  // Then the second one shows the same sentence
  const { problem } = first.audit.status();
  await eventually('the problem of another process', () => second.audit.status().problem === problem);
  t.regex(problem ?? '', /the stream asset-bad/);
  await Promise.all([first.stop(), second.stop()]);
});

test('A process that reads no log takes no contradiction of another process back', async (t) => {
  // Given a signed log, of which an older backup has 100 events
  const { append, start, eventStore, stateStore } = givenTwo(5);
  await append(300);
  const [first, second] = start();
  await showsSigned(second, 300);
  eventStore.restore(100);
  // When the first process reports the contradiction
  await eventually('a contradiction', () => first.audit.status().contradiction !== null);
  // Then it stays while the second one passes
  await eventually(
    'the contradiction of another process',
    () => second.audit.status().contradiction !== null,
  );
  const found = (await stateStore.get('audit/contradiction'))?.version;
  await second.audit.readSigned();
  t.is((await stateStore.get('audit/contradiction'))?.version, found);
  await Promise.all([first.stop(), second.stop()]);
});
