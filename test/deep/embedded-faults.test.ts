import test, { type ExecutionContext } from 'ava';
import { OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import type { EmbeddedContext } from '../../src/stores/embedded/files/open-file.js';
import { makeEmbeddedEventStore, openEventLog } from '../../src/stores/embedded/log/event-store.js';
import type { Fault } from '../../src/stores/embedded/writing/transactions.js';
import { openReadModelStore } from '../../src/stores/embedded/documents/read-model-store.js';
import { openStateStore } from '../../src/stores/embedded/writing/state-store.js';
import { makeEvents } from '../contracts/event-store-fixtures.js';
import { wholeFold } from '../support/clients/document-writes.js';
import { makeContext, makeDirectory, openAlone } from '../support/servers/embedded-directory.js';
import { getRecord, putRecord } from '../../src/event-sourcing/ports/records.js';

// The tests follow SQLite's own (sqlite.org/testing.html, section 3): the N-th step of a script fails, for every N
// until the script completes.

/** A repeatable write, and whether it is stored: whole or not at all. Half of it is an error. */
interface Write {
  run(): Promise<unknown>;
  isThere(): Promise<boolean>;
}

interface Opened {
  /** Groups of writes; the writes of a group are concurrent. */
  readonly script: readonly (readonly Write[])[];
  close(): Promise<void>;
}

type Outcome = 'acknowledged' | 'unavailable' | 'unknown';

/** The limit of a write in the runs where a step hangs, in milliseconds; it is shorter than the step. */
const writeLimitMs = 300;
const failures = [
  { name: 'a full disk', when: 'before', code: 'SQLITE_FULL' },
  { name: 'a full disk reported after the effect', when: 'after', code: 'SQLITE_FULL' },
  { name: 'a failed sync', when: 'before', code: 'SQLITE_IOERR_FSYNC' },
  { name: 'a failed sync reported after the effect', when: 'after', code: 'SQLITE_IOERR_FSYNC' },
  { name: 'a step that takes longer than the limit', when: 'hang', hangMs: 3 * writeLimitMs },
] as const satisfies readonly (Omit<Fault, 'file' | 'step' | 'n'> & { name: string })[];

const stores = { events: openEvents, 'read-models': openDocuments, state: openState } as const;

/** The number of steps of the script, by file. */
const steps = new Map<string, number>();

for (const [file, open] of Object.entries(stores) as [keyof typeof stores, typeof openEvents][]) {
  for (const { name, ...failure } of failures) {
    // The runs that hang mostly wait, so they run concurrently after the others.
    const declare = failure.when === 'hang' ? test : test.serial;
    declare(
      `${file}: the store acknowledges only stored writes and recovers after ${name} at any step`,
      async (t) => {
        t.timeout(600_000);
        let step = 0;
        let failures = 0;
        let continues = true;
        while (continues) {
          step += 1;
          const failed = await failAt(t, open, { ...failure, file, step: 'any', n: step });
          if (failed) failures += 1;
          // On a busy machine a write may see its end late or its limit early, so a run that hangs uses the count of
          // another run.
          continues = failure.when === 'hang' ? step < (steps.get(file) ?? 0) : failed;
        }
        if (failure.when !== 'hang') steps.set(file, step - 1);
        t.log(`${step} runs`);
        t.true(step > 10 && failures > 0);
      },
    );
  }
}

/**
 * Runs the script with one fault, then opens the files again and checks every write. Returns whether a write failed.
 */
async function failAt(
  t: ExecutionContext,
  open: (context: EmbeddedContext) => Promise<Opened>,
  fault: Fault,
): Promise<boolean> {
  const { directory, remove } = makeDirectory();
  const where = `step ${fault.n}`;
  const fatal: Error[] = [];
  const { store: broken, close } = await openAlone(
    open,
    makeContext(directory, {
      faults: [fault],
      onFatal: (error) => fatal.push(error),
      ...(fault.when === 'hang' ? { writeLimitMs } : {}),
    }),
  );
  const outcomes: Outcome[] = [];
  for (const group of broken.script)
    outcomes.push(...(await Promise.all(group.map((write) => attempt(t, write)))));
  await close();

  const failed = outcomes.some((outcome) => outcome !== 'acknowledged');
  const isIoError = fault.code?.startsWith('SQLITE_IOERR') === true;
  t.is(fatal.length, failed && isIoError ? 1 : 0, `${where}: one fatal error is reported`);
  if (isIoError) {
    const first = outcomes.findIndex((outcome) => outcome !== 'acknowledged');
    t.false(
      failed && outcomes.slice(first).includes('acknowledged'),
      `${where}: written after a failed sync`,
    );
  }

  const { store: reopened, close: closeAgain } = await openAlone(open, makeContext(directory));
  for (const [index, write] of reopened.script.flat().entries()) {
    const there = await write.isThere();
    if (outcomes[index] === 'acknowledged')
      t.true(there, `${where}: write ${index} was acknowledged and is lost`);
    if (outcomes[index] === 'unavailable')
      t.false(there, `${where}: write ${index} was refused and is stored`);
    await write.run();
    t.true(await write.isThere(), `${where}: write ${index} cannot be repeated`);
  }
  await closeAgain();
  remove();
  return failed;
}

async function attempt(t: ExecutionContext, write: Write): Promise<Outcome> {
  try {
    await write.run();
  } catch (error) {
    if (error instanceof OutcomeUnknown) return 'unknown';
    if (error instanceof StoreUnavailable) return 'unavailable';
    throw error;
  }
  t.true(await write.isThere(), 'the acknowledged write is not visible');
  return 'acknowledged';
}

async function openEvents(context: EmbeddedContext): Promise<Opened> {
  const log = await openEventLog(context);
  const store = makeEmbeddedEventStore({ ...context, log, streamPrefix: 'stowage.' });
  const write = (stream: string, count: number): Write => {
    const events = makeEvents(count).map((event, index) => ({ ...event, id: `${stream}/${index}` }));
    return {
      run: () => store.append(stream, 'no-stream', events),
      isThere: async () => {
        const { length } = await store.read(stream);
        const { events: all } = await store.readAll({ after: null, limit: 100 });
        if (length !== 0 && length !== count) throw new Error(`half of an append to ${stream}`);
        if (all.filter((event) => event.stream === stream).length !== length)
          throw new Error('log and stream differ');
        return length === count;
      },
    };
  };
  const script = [[write('thing-1', 1), write('thing-2', 3)], [write('thing-3', 2)], [write('thing-4', 1)]];
  return { script, close: () => store.close() };
}

async function openDocuments(context: EmbeddedContext): Promise<Opened> {
  const store = await openReadModelStore(context);
  const collection = 'things@1.1';
  const write = (...ids: readonly string[]): Write => ({
    run: async () => {
      await store.ensureCollection(collection, ['owner']);
      return store.write(
        collection,
        ids.map((id) => wholeFold(id, 4n, { owner: ids.join() })),
      );
    },
    isThere: async () => {
      const { length } = await store.getMany(collection, ids);
      const query = { where: { field: 'owner', equals: ids.join() }, limit: 9 };
      const found = length === 0 ? [] : await store.find(collection, query);
      if ((length !== 0 && length !== ids.length) || found.length !== length)
        throw new Error('half of a batch');
      return length === ids.length;
    },
  });
  const ensure: Write = {
    run: () => store.ensureCollection('others@1.1', ['owner']),
    isThere: async () => (await store.collections()).includes('others@1.1'),
  };
  const record: Write = {
    run: () => putRecord(store, 'generations', {}, null),
    isThere: async () => (await getRecord(store, 'generations')) !== null,
  };
  const script = [[ensure], [write('a'), write('b', 'c', 'd')], [write('e', 'f')], [record]];
  return { script, close: () => store.close() };
}

async function openState(context: EmbeddedContext): Promise<Opened> {
  const store = await openStateStore(context);
  const write = (key: string): Write => ({
    run: () => store.compareAndSet(key, null, { claimed: key }),
    isThere: async () => (await store.get(key)) !== null,
  });
  const script = [
    [write('claim/1'), write('claim/2'), write('claim/3')],
    [write('claim/4')],
    [write('claim/5')],
  ];
  return { script, close: () => store.close() };
}
