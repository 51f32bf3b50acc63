import test, { type ExecutionContext } from 'ava';

import type { CheckpointFolder } from '../../../../src/areas/audit/signing/checkpoint-folder.js';
import { findingsRecord } from '../../../../src/areas/audit/signing/audit-records.js';
import { auditCollection } from '../../../../src/areas/audit/tree/tile-store.js';
import { parseWitnesses, type PostText } from '../../../../src/areas/audit/signing/witnesses.js';
import type { JsonObject } from '../../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import {
  type AuditProcess,
  type AuditProcessOptions,
  givenAuditStores,
  makeAuditEvent,
  readWholeLog,
  rootOfEvents,
} from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { givenWitness, loseTiles, postByFetch, treeRead } from '../../../support/given/audit-signing.js';

/** Two processes on one log, of which the first one sequences until the role moves. They end with the test. */
function givenTwo(t: ExecutionContext, seed: number) {
  const given = givenAuditStores(seed);
  let subscriptions = 0;
  const counted: EventStore = {
    ...given.eventStore,
    subscribe: (options) => {
      subscriptions += 1;
      return given.eventStore.subscribe(options);
    },
  };
  let sequences: 'first' | 'second' | 'none' = 'first';
  let processes: readonly AuditProcess[] = [];
  const start = (
    ...[first, second]: readonly Partial<AuditProcessOptions>[]
  ): readonly [AuditProcess, AuditProcess] => {
    const both = [
      given.start({ isHere: () => sequences === 'first', ...first }),
      given.start({ eventStore: counted, isHere: () => sequences === 'second', ...second }),
    ] as const;
    processes = both;
    t.teardown(() => Promise.all(both.map((process) => process.stop())));
    return both;
  };
  return {
    ...given,
    start,
    subscriptionsOfSecond: () => subscriptions,
    /** Moves the role once the other process has ended: a pass of it that still runs takes back what the next one finds. */
    move: async (to: 'first' | 'second' = 'second') => {
      sequences = 'none';
      const left = processes[to === 'second' ? 0 : 1];
      await eventually('the other process has ended', () => left?.sequencer.stored() === null);
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
  const { append, start, subscriptionsOfSecond } = givenTwo(t, 1);
  await append(300);
  const [first, second] = start();
  await showsSigned(first, 300);
  await showsSigned(second, 300);
  t.is(second.sequencer.stored(), null);
  t.is(subscriptionsOfSecond(), 0);
  t.is(second.audit.status().contradiction, null);
});

test('A process that takes the sequencing over continues the tree of the other one', async (t) => {
  // Given a signed log
  const { append, start, move, eventStore } = givenTwo(t, 2);
  await append(300);
  const [first, second] = start();
  await showsSigned(second, 300);
  // When the role moves, and the log grows
  await move();
  await append(500);
  // Then both show the signature of the second one
  await showsSigned(second, 800);
  await showsSigned(first, 800);
  t.deepEqual(await second.tree.rootAt(800), rootOfEvents(await readWholeLog(eventStore)));
});

test('A tile that only another process misses is written again', async (t) => {
  // Given a signed log whose tiles are lost
  const { append, start, readModelStore, eventStore } = givenTwo(t, 3);
  await append(600);
  const [, second] = start();
  await showsSigned(second, 600);
  await loseTiles(readModelStore);
  // When the process that does not sequence reads a proof until it succeeds
  await treeRead('a proof', () => second.tree.inclusion(10, 600));
  // Then the tree is whole
  t.deepEqual(await second.tree.rootAt(600), rootOfEvents(await readWholeLog(eventStore)));
});

test('All processes show why the sequencing has stopped, until it goes on', async (t) => {
  // Given an event that has no leaf
  const { append, start, eventStore, random } = givenTwo(t, 4);
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
});

test('A process that starts hides the problem of the one that sequences for 10 s at most', async (t) => {
  // Given a process that stopped at an event without a leaf
  const { append, start, eventStore, random, stateStore } = givenTwo(t, 6);
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
});

test('What a process found before another one sequenced takes no contradiction back', async (t) => {
  // Given a first process whose sweep found nothing, and a second one whose sweep finds a changed tile
  const { append, start, move, stateStore } = givenTwo(t, 7);
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
  await move();
  await eventually('a contradiction', () => second.audit.status().contradiction !== null);
  const found = (await stateStore.get(findingsRecord.key))?.version;
  // When the first one sequences again, and reads a longer log
  await move('first');
  await append(500);
  await eventually('the first one reads the log', () => first.sequencer.stored()?.size === 800);
  await eventually('a pass', () => first.audit.status().contradiction !== null);
  // Then the contradiction stands, and nothing is signed
  t.is((await stateStore.get(findingsRecord.key))?.version, found);
  t.is((await first.audit.readSigned())?.size, 300);
});

test('An earlier answer of a witness takes no contradiction of another process back', async (t) => {
  // Given a witness that has cosigned for the first process
  const { append, start, move, stateStore } = givenTwo(t, 9);
  const witness = await givenWitness(t);
  let isRefusing = false;
  const answering: PostText = (url, body) =>
    isRefusing ? Promise.resolve({ status: 422, body: '' }) : postByFetch(url, body);
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
  await move();
  await eventually('a contradiction', () => second.audit.status().contradiction !== null);
  const found = (await stateStore.get(findingsRecord.key))?.version;
  // When the first one sequences again, and the witness does not answer it
  isAway = true;
  await move('first');
  await append(500);
  await eventually('the first one reads the log', () => first.sequencer.stored()?.size === 800);
  await eventually('the first one has asked', () => first.audit.status().witnesses[0]?.problem === 'Error');
  // Then the contradiction stands, and nothing is signed
  t.is((await stateStore.get(findingsRecord.key))?.version, found);
  t.is((await first.audit.readSigned())?.size, 300);
});

test('A process that writes lost tiles again for another one shows no part of the tree', async (t) => {
  // Given a signed log whose tiles are lost, and a process that reads it in two pages
  const { append, start, readModelStore, eventStore } = givenTwo(t, 10);
  await append(600);
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
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
  const [, second] = start({}, { eventStore: paused, readModelStore: watched });
  t.teardown(() => goOn());
  await showsSigned(second, 600);
  await loseTiles(readModelStore);
  // When it has written the tiles of the first page
  await t.throwsAsync(second.tree.inclusion(10, 600));
  await eventually('its tiles', () => hasWritten);
  // Then it has no tree to show
  t.is(second.sequencer.stored(), null);
  goOn();
  await treeRead('a proof', () => second.tree.inclusion(10, 600));
});

test('Damaged tiles hide no problem of the process that sequences', async (t) => {
  // Given a head of the stored tree that is no head
  const { append, start, readModelStore } = givenTwo(t, 11);
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
});

test('A folder with a larger checkpoint than the signed one keeps it, and the process says so', async (t) => {
  // Given a folder of a process that does not sequence, with a checkpoint of a longer history
  const { append, start } = givenTwo(t, 8);
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
});

test('A process that reads no log takes no contradiction of another process back', async (t) => {
  // Given a signed log, of which an older backup has 100 events
  const { append, start, eventStore, stateStore } = givenTwo(t, 5);
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
});
