import { chmodSync, cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { makeEventCodec } from '../../src/event-sourcing/ports/event-codec.js';
import type { StateRecord, StateStore } from '../../src/event-sourcing/ports/state-store.js';
import { openConnection } from '../../src/stores/embedded/files/database.js';
import { logIdStream, makeLogStamp } from '../../src/stores/eventstoredb/same-log/log-id.js';
import { codecs } from '../support/examples/every-event.js';
import type { HeaderFields } from '../support/clients/service-client.js';
import { viewsAtHead } from '../support/given/backups.js';
import { givenDirectory, openDocuments } from '../support/servers/embedded-directory.js';
import { makeServerLog } from '../support/servers/eventstoredb-server/log.js';
import { openTestStore, startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import type { ServiceInProcess } from '../support/servers/service-in-process.js';
import {
  folderOf,
  openRecorded,
  problemsOfLog,
  readAs,
  type RecordedReply,
  signed,
  storyEndsAt,
} from './recorded-service.js';
import { problemsOf, readLines, type RecordedEvent, recordedEvents } from './recorded-events.js';

/* The data that each release has written: docs/extending.md#stored-data. */

const releases = readdirSync(folderOf('.')).filter((name) => /^\d/.test(name));
const now = (): number => storyEndsAt;

for (const release of releases) {
  const folder = folderOf(release);

  test(`This build reads every event that ${release} recorded as it was written`, (t) => {
    const events = recordedEvents(folder);
    t.deepEqual(problemsOf(events), []);
    // And a category or a type that is gone is a problem
    const { order, ...others } = codecs;
    t.true(problemsOf(events, others).includes('no aggregate has streams order-…'));
    const schemas = Object.fromEntries(
      Object.entries(order.schemas).filter(([type]) => type !== 'OrderPlaced'),
    );
    t.regex(
      problemsOf(events, { ...others, order: makeEventCodec(schemas) }).join(),
      /type OrderPlaced .* unknown/,
    );
  });

  for (const hasReadModels of [true, false]) {
    test(`The data directory of ${release} opens ${hasReadModels ? 'with' : 'without'} its read models and serves every recorded reply`, async (t) => {
      const directory = copyOf(t, folder);
      if (!hasReadModels) rmSync(join(directory, 'read-models.db'));
      const service = await openRecorded(directory, { now });
      t.teardown(() => service.close());
      await servesAll(t, service, folder);
    });
  }

  test(`The log of ${release} in an event store serves every recorded reply`, async (t) => {
    // Given the log and the records on servers. The clock of the event store shows the times of the events
    let recordedMs = 0;
    const server = await startEventStoreDbServer({ log: makeServerLog(() => recordedMs) });
    t.teardown(() => server.close());
    const store = openTestStore(server.url, { streamPrefix: 'stowage.' });
    const directory = givenDirectory(t);
    const documents = await openDocuments(directory);
    const records = readLines(folder, 'records.jsonl') as readonly Omit<StateRecord, 'version'>[];
    const { log_id: logId } = (records.find(({ key }) => key === 'canary/keys')?.value ?? {}) as {
      readonly log_id: string;
    };
    await store.append(logIdStream, 'no-stream', [makeLogStamp(logId, new Date(now()))]);
    for (const { recordedAt, stream, revision, ...event } of readLines(
      folder,
      'log.jsonl',
    ) as readonly RecordedEvent[]) {
      recordedMs = Date.parse(recordedAt);
      await store.append(stream, revision === 0 ? 'no-stream' : BigInt(revision - 1), [event]);
    }
    recordedMs = now();
    await writeRecords(documents.stateStore, records);
    await documents.close();
    await store.close();
    // When a service starts on them, then it serves the same
    const environment = { EVENTSTOREDB_URL: server.url, KEYS_FILE: join(copyOf(t, folder), 'keys.json') };
    const service = await openRecorded(directory, { now, environment });
    t.teardown(() => service.close());
    await servesAll(t, service, folder);
    const info = 'stowage_event_store_info{product="EventStoreDB",version="24.10.4"} 1';
    t.true((await service.metrics()).includes(info));
  });

  for (const file of ['events.db', 'state.db', 'read-models.db']) {
    test(`A program of a lower format refuses ${file} of ${release} with a sentence`, async (t) => {
      const directory = copyOf(t, folder);
      const database = openConnection(join(directory, file));
      const [version] = database.query<readonly [bigint]>('PRAGMA user_version').get() ?? [0n];
      database.execute(`PRAGMA user_version = ${version + 1n}`);
      database.close();
      await t.throwsAsync(openRecorded(directory, { now }), {
        message: new RegExp(
          `${file} has format ${version + 1n}, this program knows up to ${version}. Run the newer`,
        ),
      });
    });
  }
}

/** Copies the directory, because a service writes to it. */
function copyOf(t: ExecutionContext, folder: string): string {
  const directory = givenDirectory(t);
  cpSync(join(folder, 'embedded'), directory, { recursive: true });
  // A clone does not keep that only the owner reads the file.
  chmodSync(join(directory, 'keys.json'), 0o600);
  return directory;
}

async function writeRecords(
  store: StateStore,
  records: readonly Omit<StateRecord, 'version'>[],
): Promise<void> {
  for (const { key, value, expiresAt } of records)
    await store.compareAndSet(key, null, value, expiresAt === null ? {} : { expiresAt: new Date(expiresAt) });
}

/** Checks every recorded reply, and the audit log by the published verifier. */
async function servesAll(t: ExecutionContext, service: ServiceInProcess, folder: string): Promise<void> {
  const readers = Object.fromEntries(
    readLines(folder, 'readers.jsonl') as readonly (readonly [string, HeaderFields])[],
  );
  const head = await headOf(service.services.eventStore);
  await viewsAtHead(service);
  await signed(service);
  const vkeys = readFileSync(join(folder, 'log.vkey'), 'utf8');
  t.is(await problemsOfLog(service, readers['bob'] ?? {}, vkeys), null);
  const replies = readLines(folder, 'replies.jsonl') as readonly RecordedReply[];
  t.true(replies.length > 40);
  for (const { as, path, body } of replies) {
    t.deepEqual(await readAs(service.url, path, readers[as] ?? {}), body, `${path} as ${as}`);
  }
  t.is(await headOf(service.services.eventStore), head, 'reading appends nothing');
}

const headOf = (eventStore: EventStore): Promise<string | null> => eventStore.head();
