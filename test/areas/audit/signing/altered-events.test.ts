import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';

import { signedRecord } from '../../../../src/areas/audit/signing/audit-records.js';
import {
  checkpointPaths,
  makeCheckpointFolder,
} from '../../../../src/areas/audit/signing/checkpoint-folder.js';
import { parseCheckpointText, parseNote } from '../../../../src/areas/audit/tree/note.js';
import { auditCollection } from '../../../../src/areas/audit/tree/tile-store.js';
import { parseWitnesses } from '../../../../src/areas/audit/signing/witnesses.js';
import type { LogEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore, LogPage } from '../../../../src/event-sourcing/ports/event-store.js';
import { givenAuditStores, readWholeLog, rootOfEvents } from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { givenWitness, postByFetch } from '../../../support/given/audit-signing.js';

const copies = ['tiles', 'record', 'folder'] as const;
type Copy = (typeof copies)[number];
const size = 300;

/** Every set of the three. */
const combinations = Array.from({ length: 2 ** copies.length }, (_, bits) =>
  copies.filter((_copy, place) => (bits & (1 << place)) !== 0),
);

interface Scene {
  /** Index of the altered event. */
  readonly at: number;
  readonly removed: readonly Copy[];
  /** Whether the service writes `keys.json`, and so a checkpoint beside it. */
  readonly writesKeys: boolean;
  readonly witnessed?: boolean;
}

/** A signed log that is stopped, loses some of what was written beside it, and starts again with one altered event. */
async function given(t: ExecutionContext, { at, removed, writesKeys, witnessed = false }: Scene) {
  const stores = givenAuditStores(1, 1_000);
  const { append, start, eventStore, readModelStore, stateStore } = stores;
  const directory = mkdtempSync(join(tmpdir(), 'stowage-altered-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const keyFile = writesKeys ? join(directory, 'keys.json') : null;
  const places = checkpointPaths({ directory: undefined, dataDirectory: directory, keyFile });
  const folders = places.map(makeCheckpointFolder);
  const witness = await givenWitness(t);
  const witnesses = witnessed ? parseWitnesses(`${witness.vkey} ${witness.url}\n`) : [];
  await append(size);
  const events = await readWholeLog(eventStore);
  const first = start({ folders, witnesses, post: postByFetch });
  await eventually('it is signed', async () => {
    const record = await first.audit.readSigned();
    return record?.size === size && Object.keys(record.cosignatures).length === witnesses.length;
  });
  await first.stop();
  if (removed.includes('record')) {
    const stored = await stateStore.get(signedRecord.key);
    await stateStore.compareAndSet(signedRecord.key, stored?.version ?? null, null);
  }
  if (removed.includes('tiles')) await readModelStore.dropCollection(auditCollection);
  if (removed.includes('folder')) rmSync(join(directory, 'checkpoints'), { recursive: true });
  const notes: string[] = [];
  const recording: typeof stateStore = {
    ...stateStore,
    compareAndSet: async (key, expected, value) => {
      const version = await stateStore.compareAndSet(key, expected, value);
      if (version !== null && key === signedRecord.key) notes.push((value as { note: string }).note);
      return version;
    },
  };
  const process = start({
    ...{ folders, witnesses, post: postByFetch, stateStore: recording },
    eventStore: withAltered(eventStore, events[at]?.id ?? ''),
  });
  t.teardown(() => process.stop());
  /** The signed checkpoints that are not of the events as they were appended. */
  const wrong = async (): Promise<readonly string[]> => {
    const whole = await readWholeLog(eventStore);
    return notes.filter((note) => {
      const checkpoint = parseCheckpointText(parseNote(note)?.text ?? '');
      return checkpoint?.root.equals(rootOfEvents(whole.slice(0, checkpoint.size))) !== true;
    });
  };
  return { ...stores, process, wrong, notes };
}

/** Reads show one event with other data. */
function withAltered(eventStore: EventStore, id: string): EventStore {
  const altered = (event: LogEvent): LogEvent =>
    event.id === id ? { ...event, data: { ...event.data, amount: 1 } } : event;
  const page = (read: LogPage): LogPage => ({ ...read, events: read.events.map(altered) });
  return {
    ...eventStore,
    readAll: async (options) => page(await eventStore.readAll(options)),
    async *subscribe(options) {
      for await (const read of eventStore.subscribe(options)) yield page(read);
    },
  };
}

const places = [
  ['the first page', 3],
  ['the last signed page', size - 5],
] as const;

for (const removed of combinations) {
  for (const [where, at] of places) {
    for (const writesKeys of [true, false]) {
      const isLost = removed.length === copies.length && !writesKeys;
      if (isLost) continue;
      const lost = [...removed, ...(writesKeys ? [] : ['checkpoint beside the keys'])];
      const copiesLeft = lost.length === 0 ? 'with all copies' : `without ${lost.join(', ')}`;
      test(`An altered event of ${where} is reported, and nothing wrong is signed, ${copiesLeft}`, async (t) => {
        // Given a log of which an event was altered, and what was written beside it removed
        const { process, wrong, append } = await given(t, { at, removed, writesKeys });
        // When the service starts, and the log grows
        await append(5);
        // Then
        await eventually('a contradiction', () => process.audit.status().contradiction !== null);
        t.deepEqual(await wrong(), []);
      });
    }
  }
}

for (const [where, at] of places) {
  test(`Without any copy, an altered event of ${where} is reported by a witness before anything is signed`, async (t) => {
    const { process, notes } = await given(t, { at, removed: copies, writesKeys: false, witnessed: true });
    await eventually('a contradiction', () => process.audit.status().contradiction !== null);
    t.like(process.audit.status().contradiction, { source: 'witness witness.example/w1' });
    t.deepEqual(notes, []);
  });

  test(`Without any copy and without a witness, an altered event of ${where} is signed`, async (t) => {
    // The banner of the start says so.
    const { process } = await given(t, { at, removed: copies, writesKeys: false });
    await eventually('it is signed', async () => (await process.audit.readSigned())?.size === size);
    t.is(process.audit.status().contradiction, null);
  });
}

test('An altered event of the last signed page is found before anything is signed', async (t) => {
  const { process, notes, append } = await given(t, { at: size - 5, removed: [], writesKeys: false });
  await append(20);
  await eventually('a contradiction', () => process.audit.status().contradiction !== null);
  t.like(process.audit.status().contradiction, { source: 'page' });
  t.regex(process.audit.status().contradiction?.what ?? '', /^the event at index 295 is not the one in/);
  t.deepEqual(notes, []);
});
