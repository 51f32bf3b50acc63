import test from 'ava';

import type { CheckpointFolder } from '../../../../src/areas/audit/signing/checkpoint-folder.js';
import { makeNoteSigner } from '../../../../src/areas/audit/tree/note.js';
import { findingsRecord } from '../../../../src/areas/audit/signing/audit-records.js';
import { auditCollection } from '../../../../src/areas/audit/tree/tile-store.js';
import { parseWitnesses, type PostText } from '../../../../src/areas/audit/signing/witnesses.js';
import type { JsonObject } from '../../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import {
  auditSeed,
  type AuditProcess,
  type AuditProcessOptions,
  givenAuditStores,
  makeAuditEvent,
  readWholeLog,
  rootOfEvents,
} from '../../../support/audit/audit-scene.js';
import { startTestWitness } from '../../../support/audit/test-witness.js';
import { eventually } from '../../../support/eventually.js';

const origin = 'stowage/00000000-0000-4000-8000-000000000001';

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
  const start = (
    ...[first, second]: readonly Partial<AuditProcessOptions>[]
  ): readonly [AuditProcess, AuditProcess] => [
    given.start({ isHere: () => sequences === 'first', ...first }),
    given.start({ eventStore: counted, isHere: () => sequences === 'second', ...second }),
  ];
  return {
    ...given,
    start,
    subscriptionsOfSecond: () => subscriptions,
    move: (to: 'first' | 'second' = 'second') => {
      sequences = to;
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

test('A process that starts hides the problem of the one that sequences for 10 s at most', async (t) => {
  // Given a process that stopped at an event without a leaf
  const { append, start, eventStore, random, stateStore } = givenTwo(6);
  await append(20);
  const text = JSON.stringify('\ud800');
  const bad = { ...makeAuditEvent(random, 1), data: { text: JSON.parse(text) as string } };
  await eventStore.append('asset-bad', 'no-stream', [bad]);
  const [first, second] = start();
  await eventually('the problem', () => second.audit.status().problem !== null);
  // When another process records that it has none, as one does that sequences for a moment
  const problem = first.audit.status().problem;
  const stored = await stateStore.get(findingsRecord.key);
  await stateStore.compareAndSet(findingsRecord.key, stored?.version ?? null, {
    ...(stored?.value as JsonObject),
    problem: null,
  });
  // Then the first one writes it again
  await eventually(
    'the problem is published again',
    async () => ((await stateStore.get(findingsRecord.key))?.value as JsonObject)['problem'] === problem,
  );
  await eventually('the problem of another process', () => second.audit.status().problem !== null);
  t.not(first.audit.status().problem, null);
  await Promise.all([first.stop(), second.stop()]);
});

test('What a process found before another one sequenced takes no contradiction back', async (t) => {
  // Given a first process whose sweep found nothing, and a second one whose sweep finds a changed tile
  const { append, start, move, stateStore } = givenTwo(7);
  await append(300);
  let runs = 0;
  const clean = {
    run: () => Promise.resolve(void (runs += 1)),
    checked: () => new Map(runs === 1 ? [['sweep', null]] : []),
  };
  const differing = {
    run: () => Promise.resolve(),
    checked: () => new Map([['sweep', 'the event differs']]),
  };
  const [first, second] = start({ sweep: clean }, { sweep: differing });
  await showsSigned(first, 300);
  move();
  await eventually('a contradiction', () => second.audit.status().contradiction !== null);
  const found = (await stateStore.get(findingsRecord.key))?.version;
  // When the first one sequences again, and reads a longer log
  move('first');
  await append(500);
  await eventually('the first one reads the log', () => first.sequencer.stored()?.size === 800);
  await eventually('a pass', () => first.audit.status().contradiction !== null);
  // Then the contradiction stands, and nothing is signed
  t.is((await stateStore.get(findingsRecord.key))?.version, found);
  t.is((await first.audit.readSigned())?.size, 300);
  await Promise.all([first.stop(), second.stop()]);
});

test('An earlier answer of a witness takes no contradiction of another process back', async (t) => {
  // Given a witness that has cosigned for the first process
  const { append, start, move, stateStore } = givenTwo(9);
  const witness = await startTestWitness([makeNoteSigner(origin, auditSeed).vkey]);
  t.teardown(() => witness.close());
  let isRefusing = false;
  const answering: PostText = async (url, body) => {
    if (isRefusing) return { status: 422, body: '' };
    const reply = await fetch(url, { method: 'POST', body });
    return { status: reply.status, body: await reply.text() };
  };
  let isAway = false;
  const postOfFirst: PostText = (url, body) =>
    isAway ? Promise.reject(new Error('no answer')) : answering(url, body);
  const witnesses = parseWitnesses(`${witness.vkey} ${witness.url}/\n`);
  await append(300);
  const [first, second] = start({ witnesses, post: postOfFirst }, { witnesses, post: answering });
  await eventually('it is cosigned', async () => {
    const record = await first.audit.readSigned();
    return Object.values(record?.cosignatures ?? {})[0]?.size === 300;
  });
  // and that shows the second one another history
  isRefusing = true;
  move();
  await eventually('a contradiction', () => second.audit.status().contradiction !== null);
  const found = (await stateStore.get(findingsRecord.key))?.version;
  // When the first one sequences again, and the witness does not answer it
  isAway = true;
  move('first');
  await append(500);
  await eventually('the first one reads the log', () => first.sequencer.stored()?.size === 800);
  await eventually('the first one has asked', () => first.audit.status().witnesses[0]?.problem === 'Error');
  // Then the contradiction stands, and nothing is signed
  t.is((await stateStore.get(findingsRecord.key))?.version, found);
  t.is((await first.audit.readSigned())?.size, 300);
  await Promise.all([first.stop(), second.stop()]);
});

test('A process that writes lost tiles again for another one shows no part of the tree', async (t) => {
  // Given a signed log whose tiles are lost, and a process that reads it in two pages
  const { append, start, readModelStore, eventStore } = givenTwo(10);
  await append(600);
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  t.teardown(() => {
    goOn();
  });
  const paused: EventStore = {
    ...eventStore,
    async *subscribe(options) {
      for await (const page of eventStore.subscribe(options)) {
        const half = page.events.slice(0, 300);
        yield { ...page, events: half, cursor: half.at(-1)?.position ?? page.cursor, atHead: false };
        await gate;
        yield { ...page, events: page.events.slice(300) };
      }
    },
  };
  let hasWritten = false;
  const watched: ReadModelStore = {
    ...readModelStore,
    write: async (collection, writes) => {
      const outcomes = await readModelStore.write(collection, writes);
      hasWritten ||= writes.some(({ document }) => document.id === 'head');
      return outcomes;
    },
  };
  const [first, second] = start({}, { eventStore: paused, readModelStore: watched });
  await showsSigned(second, 600);
  await readModelStore.dropCollection(auditCollection);
  await readModelStore.ensureCollection(auditCollection, []);
  // When it has written the tiles of the first page
  await t.throwsAsync(second.tree.inclusion(10, 600));
  await eventually('its tiles', () => hasWritten);
  // Then it has no tree to show
  t.is(second.sequencer.stored(), null);
  goOn();
  await eventually('a proof', () =>
    second.tree.inclusion(10, 600).then(
      () => true,
      () => false,
    ),
  );
  await Promise.all([first.stop(), second.stop()]);
});

test('Damaged tiles hide no problem of the process that sequences', async (t) => {
  // Given a head of the stored tree that is no head
  const { append, start, readModelStore } = givenTwo(11);
  await append(20);
  await readModelStore.ensureCollection(auditCollection, []);
  const document = { id: 'head', revision: 0n, body: { size: 'none' } };
  await readModelStore.write(auditCollection, [{ document, foldedFrom: 'whole-stream' }]);
  // When the first process meets it
  const [first, second] = start();
  await eventually('the problem', () => first.audit.status().problem !== null);
  // Then the second one shows the same sentence
  const { problem } = first.audit.status();
  await eventually('the problem of another process', () => second.audit.status().problem === problem);
  t.regex(problem ?? '', /head/);
  await Promise.all([first.stop(), second.stop()]);
});

test('A folder with a larger checkpoint than the signed one keeps it, and the process says so', async (t) => {
  // Given a folder of a process that does not sequence, with a checkpoint of a longer history
  const { append, start } = givenTwo(8);
  await append(300);
  const written: number[] = [];
  const folder: CheckpointFolder = {
    ...{ source: 'folder', name: 'AUDIT_CHECKPOINT_DIR' },
    newest: (origin) => Promise.resolve({ origin, size: 400, root: Buffer.alloc(32) }),
    write: ({ size }) => {
      written.push(size);
      return Promise.resolve();
    },
  };
  const [first, second] = start({}, { folders: [folder] });
  await showsSigned(first, 300);
  // Then
  await eventually('a problem', () => second.audit.status().problem !== null);
  t.regex(second.audit.status().problem ?? '', /AUDIT_CHECKPOINT_DIR: a checkpoint of 400 events/);
  t.deepEqual(written, []);
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
  const found = (await stateStore.get(findingsRecord.key))?.version;
  await second.audit.readSigned();
  t.is((await stateStore.get(findingsRecord.key))?.version, found);
  await Promise.all([first.stop(), second.stop()]);
});
