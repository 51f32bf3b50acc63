import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';

import type { EventStore, LogPage } from '../../../../src/event-sourcing/ports/event-store.js';
import { servedNote } from '../../../../src/areas/audit/signing/audit-records.js';
import { makeCheckpointFolder, outsidePath } from '../../../../src/areas/audit/signing/checkpoint-folder.js';
import {
  isSignedBy,
  makeNoteSigner,
  parseCheckpointText,
  parseNote,
  parseVkey,
} from '../../../../src/areas/audit/tree/note.js';
import { restartType } from '../../../../src/areas/audit/tree/log-accumulator.js';
import {
  auditSeed,
  givenAuditStores,
  makeAuditEvent,
  makeFastClock,
  readWholeLog,
  rootOfEvents,
} from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { makeSeededRandom } from '../../../support/fakes/clock.js';
import type { makeMemoryEventStore } from '../../../support/fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../../../support/fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../../../support/fakes/memory-state-store.js';
import { origin, signedAt } from '../../../support/given/audit-signing.js';

function givenFolder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'stowage-checkpoints-'));
  t.teardown(() => rmSync(path, { recursive: true }));
  return path;
}

async function appendNew(eventStore: EventStore, stream: string, count: number): Promise<void> {
  const random = makeSeededRandom(count);
  const events = Array.from({ length: count }, (_, place) => makeAuditEvent(random, place));
  await eventStore.append(stream, 'no-stream', events);
}

test('A checkpoint is signed with each key over the root of the log, and verifies with each public key', async (t) => {
  const seeds = [auditSeed, Buffer.alloc(32, 17)];
  const { append, start, eventStore } = givenAuditStores(1);
  await append(300);
  const process = start({ seeds: () => seeds });
  await signedAt(process, 300);
  const record = await process.audit.readSigned();
  const note = parseNote(record === null ? '' : (servedNote(record) ?? ''));
  if (note === null) throw new Error('no note');
  t.deepEqual(parseCheckpointText(note.text), {
    ...{ origin, size: 300 },
    root: rootOfEvents(await readWholeLog(eventStore)),
  });
  for (const seed of seeds) {
    const verifier = parseVkey(makeNoteSigner(origin, seed).vkey);
    t.true(verifier !== null && note.signatures.some((line) => isSignedBy(verifier, note.text, line)));
  }
  await process.stop();
});

test('Each of several processes signs on one chain, and each size has one root', async (t) => {
  const { append, start, eventStore } = givenAuditStores(2);
  const path = givenFolder(t);
  const folder = makeCheckpointFolder(outsidePath(path));
  const processes = [
    start({ folders: [folder] }),
    start({ folders: [folder] }),
    start({ folders: [folder] }),
  ];
  for (let size = 0; size < 640; size += 80) {
    await append(80);
    await eventually(
      'the next checkpoint',
      async () => ((await processes[0]?.audit.readSigned())?.size ?? 0) > size,
    );
  }
  await eventually('the last checkpoint', async () => (await processes[1]?.audit.readSigned())?.size === 640);
  await Promise.all(processes.map((process) => process.stop()));
  const events = await readWholeLog(eventStore);
  const [directory = ''] = readdirSync(path);
  const sizes = readdirSync(join(path, directory)).map(Number);
  t.true(sizes.length >= 8 && sizes.includes(640));
  const kept = await folder.newest(origin);
  t.deepEqual(kept?.root, rootOfEvents(events));
});

test('After a restore of an older log, no checkpoint is signed, and the contradiction names both sizes', async (t) => {
  // Given a signed log of 200 events
  const { append, start, eventStore, stateStore } = givenAuditStores(3);
  await append(200);
  const before = start();
  await signedAt(before, 200);
  await before.stop();
  // When a backup of 150 events replaces it, the read models are built again and the log grows past the old end
  eventStore.restore(150);
  await appendNew(eventStore, 'order-1', 20);
  const after = start({ readModelStore: makeMemoryReadModelStore() });
  // Then the record shows it
  await eventually('a contradiction', () => after.audit.status().contradiction !== null);
  t.like(after.audit.status().contradiction, {
    source: 'record',
    what: 'the log has 170 events, but a checkpoint of 200 events was signed',
  });
  await appendNew(eventStore, 'order-2', 60);
  await eventually('the new events are sequenced', () => {
    const log = after.sequencer.stored();
    return log?.size === 230 && log.atHead;
  });
  t.is((await after.audit.readSigned())?.size, 200);
  await after.stop();
  t.not(await stateStore.get('audit/findings'), null);
});

test('After a restore of log and state, the folder shows that the log is older', async (t) => {
  const { append, start, eventStore } = givenAuditStores(4);
  const folder = makeCheckpointFolder(outsidePath(givenFolder(t)));
  await append(120);
  const before = start({ folders: [folder] });
  await signedAt(before, 120);
  await before.stop();
  eventStore.restore(100);
  const stateStore = makeMemoryStateStore({ clock: makeFastClock(200) });
  const after = start({ folders: [folder], stateStore, readModelStore: makeMemoryReadModelStore() });
  await eventually('a contradiction', () => after.audit.status().contradiction !== null);
  t.like(after.audit.status().contradiction, { source: 'folder' });
  t.is(await after.audit.readSigned(), null);
  await after.stop();
});

test('The contradiction ends when the newer log is back', async (t) => {
  const { append, start, eventStore, stateStore } = givenAuditStores(5);
  await append(80);
  const whole = await readWholeLog(eventStore);
  const first = start();
  await signedAt(first, 80);
  await first.stop();
  eventStore.restore(60);
  const short = start({ readModelStore: makeMemoryReadModelStore() });
  await eventually('a contradiction', () => short.audit.status().contradiction !== null);
  await short.stop();
  // When the newer log is restored: the memory store records the same events with their times
  const again = givenAuditStores(5);
  await again.append(80);
  t.deepEqual(
    (await readWholeLog(again.eventStore)).map(({ id }) => id),
    whole.map(({ id }) => id),
  );
  const restored = { ...again.eventStore, ...eventsFrom(whole, again.eventStore) };
  const process = start({
    eventStore: restored,
    readModelStore: makeMemoryReadModelStore(),
  });
  await eventually('the contradiction ends', () => {
    const { contradiction, signed } = process.audit.status();
    return signed !== null && contradiction === null;
  });
  t.like((await stateStore.get('audit/findings'))?.value, { contradictions: [] });
  await process.stop();
});

/** Serves the events of one log, with its times, through the reads of another. */
function eventsFrom(
  whole: Awaited<ReturnType<typeof readWholeLog>>,
  like: ReturnType<typeof makeMemoryEventStore>,
) {
  const restored = (page: LogPage): LogPage => ({
    ...page,
    events: page.events.map((event) => whole.find(({ id }) => id === event.id) ?? event),
  });
  return {
    readAll: async (options: Parameters<typeof like.readAll>[0]) => restored(await like.readAll(options)),
    subscribe: async function* (options: Parameters<typeof like.subscribe>[0]) {
      for await (const page of like.subscribe(options)) yield restored(page);
    },
  };
}

test('A restart begins another origin whose log holds the restart, and a late process does not sign under the old one', async (t) => {
  const { append, start, eventStore, random } = givenAuditStores(6);
  await append(50);
  const first = start();
  await signedAt(first, 50);
  const restart = { ...makeAuditEvent(random, 51), type: restartType };
  await eventStore.append('audit-r1', 'no-stream', [restart]);
  await eventually('a checkpoint of the new origin', async () => {
    const record = await first.audit.readSigned();
    return record?.origin === `${origin}/r1` && record.size === 51;
  });
  t.deepEqual((await first.audit.readSigned())?.former_origins, [origin]);
  // A process whose log ends before the restart
  const late = start({ readModelStore: makeMemoryReadModelStore(), eventStore: endingAt(eventStore, 50) });
  await eventually('it has sequenced its log', () => late.sequencer.stored()?.atHead === true);
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.is((await late.audit.readSigned())?.origin, `${origin}/r1`);
  t.is(late.audit.status().contradiction, null);
  await Promise.all([first.stop(), late.stop()]);
});

function endingAt(eventStore: ReturnType<typeof makeMemoryEventStore>, count: number) {
  return {
    ...eventStore,
    subscribe: async function* (options: Parameters<typeof eventStore.subscribe>[0]) {
      let left = count;
      for await (const page of eventStore.subscribe(options)) {
        const events = page.events.slice(0, left);
        left -= events.length;
        yield { ...page, events };
      }
    },
  };
}

test('A file in the folder that is no checkpoint stops the signing and is named', async (t) => {
  const path = givenFolder(t);
  const folder = makeCheckpointFolder(outsidePath(path));
  const { append, start } = givenAuditStores(7);
  await append(10);
  const first = start({ folders: [folder] });
  await signedAt(first, 10);
  await first.stop();
  const [directory = ''] = readdirSync(path);
  const file = join(path, directory, '00000000000000000011');
  writeFileSync(file, 'junk');
  await append(5);
  const process = start({ folders: [folder] });
  await eventually('a contradiction', () => process.audit.status().contradiction !== null);
  t.regex(process.audit.status().contradiction?.what ?? '', /AUDIT_CHECKPOINT_DIR.*00000000000000000011/);
  // When the file is gone, signing goes on
  rmSync(file);
  await signedAt(process, 15);
  await eventually('the contradiction ends', () => process.audit.status().contradiction === null);
  await process.stop();
  t.is((await folder.newest(origin))?.size, 15);
});
