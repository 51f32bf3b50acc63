import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { openStores } from '../../src/composition/opening/open-stores.js';
import { makeStoreLinks } from '../../src/composition/opening/store-reports.js';
import { readConfig } from '../../src/config/config.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { makeHealth } from '../../src/observing/health.js';
import { makeEvents, uniqueStream } from '../contracts/event-store-fixtures.js';
import { eventually } from '../support/eventually.js';
import { makeSeededRandom, realClock } from '../support/fakes/clock.js';
import { partial } from '../support/fakes/partial.js';
import { settableClock } from '../support/fakes/settable-clock.js';
import type { ProjectionRunner } from '../../src/event-sourcing/feeding/projectors/projection-runner.js';
import type { Fault, Call } from '../support/servers/eventstoredb-server/faults.js';
import { startEventStoreDbServer, type StartOptions } from '../support/servers/eventstoredb-server/server.js';
import { makeDataDirectory } from '../support/servers/service-process.js';

/**
 * The stores of a process with its log in EventStoreDB, a reader of the log that begins again after each end, as those of
 * views do, and the readiness. Only the test moves the clock, and each wait takes 5 ms.
 */
async function given(t: ExecutionContext, start: StartOptions) {
  const server = await startEventStoreDbServer(start);
  const directory = await makeDataDirectory();
  const wall = settableClock();
  const clock = { ...wall, sleep: (_ms: number, signal?: AbortSignal) => wall.sleep(5, signal) };
  const environment = { DATA_DIR: directory.path, LOG_LEVEL: 'silent', EVENTSTOREDB_URL: server.url };
  const config = readConfig(environment);
  const links = makeStoreLinks(config, clock);
  const fatal: Error[] = [];
  const stores = await openStores({
    ...{ config, clock, links, random: makeSeededRandom(1), logger: pino({ level: 'silent' }) },
    onFatal: (error) => fatal.push(error),
    onStreamDamaged: () => undefined,
  });
  const reading = new AbortController();
  let passed = 0;
  const followed = follow(stores.eventStore, reading.signal, (count) => {
    passed += count;
  });
  t.teardown(async () => {
    reading.abort();
    await followed;
    await stores.close();
    await server.close();
    await directory.remove();
  });
  const health = makeHealth({ stores: { away: () => [] }, logReads: links.eventStore.reads, clock });
  health.projectionsStarted(
    partial<ProjectionRunner>({ live: () => ({ reached: true, statuses: [] }), problems: () => [] }),
  );
  return {
    ...{ server, store: stores.eventStore, clock, health, fatal },
    passed: () => passed,
    isRead: () => links.eventStore.reads.failingSinceMs() === null,
  };
}

/** Follows the log until the signal aborts. A subscription that has failed too often begins again. */
async function follow(
  store: EventStore,
  signal: AbortSignal,
  onEvents: (count: number) => void,
): Promise<void> {
  let after: string | null = null;
  while (!signal.aborted) {
    try {
      for await (const page of store.subscribe({ after, signal })) {
        onEvents(page.events.length);
        after = page.cursor;
      }
    } catch {
      await realClock.sleep(5);
    }
  }
}

const failed: Fault = { apply: 'never', answer: 'read-all-error' };
const isOfLog = ({ kind, stream }: Call): boolean => kind !== 'append' && stream === null;

const servers: readonly [what: string, start: StartOptions, fails: (call: Call) => boolean][] = [
  ['reads of the log forwards', {}, ({ direction }) => direction !== 'backwards'],
  [
    'reads of the log forwards, and gives no positions in reads of a stream,',
    { streamReadPositions: false },
    ({ direction }) => direction !== 'backwards',
  ],
  ['reads of the log in both directions', { streamReadPositions: false }, () => true],
];

for (const [what, start, fails] of servers) {
  test(`A server that fails all ${what} for 40 s makes the process not ready, and does not end it`, async (t) => {
    // Given a process that follows the log
    const { server, store, clock, health, fatal, passed, isRead } = await given(t, start);
    await eventually('the log is known', () => store.logId().catch(() => null));
    const stream = uniqueStream();
    await store.append(stream, 'no-stream', makeEvents(3));
    await eventually('three events pass', () => passed() >= 3);
    t.deepEqual(health.ready(), { ok: true, reasons: [] });
    // When each read of the log fails, and the connection is lost, so that the process verifies the log
    const failures = (): number => server.faults.calls.filter(isOfLog).length;
    server.faults.decideBy((call) => (isOfLog(call) && fails(call) ? failed : undefined));
    server.network.cut();
    const pass = async (ms: number): Promise<void> => {
      const before = failures();
      await eventually('two reads fail', () => failures() >= before + 2);
      clock.advance(ms);
    };
    await eventually('a read fails', () => !isRead());
    // Then the process is ready for 30 s, and not afterwards
    for (let seconds = 0; seconds < 30; seconds += 5) {
      t.deepEqual(health.ready().reasons, [], `after ${seconds} s`);
      await pass(5_000);
    }
    t.deepEqual(health.ready().reasons, ['the log could not be read for 30 s']);
    await pass(10_000);
    t.deepEqual(health.ready().reasons, ['the log could not be read for 40 s']);
    await pass(0);
    t.deepEqual(fatal, []);
    // When the log can be read again, then the process is ready, and reads and writes go on
    server.faults.decideBy(null);
    await eventually('the process is ready', () => health.ready().ok);
    const appended = await eventually('an append succeeds', () =>
      store.append(stream, 2n, makeEvents(1)).catch(() => null),
    );
    t.is(appended.revision, 3n);
    await eventually('the new event passes', () => passed() >= 4);
    t.deepEqual(fatal, []);
  });
}
