import { createServer } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { makeNoteRetry, makeReportStore } from '../../src/composition/opening/store-reports.js';
import { makeAvailability } from '../../src/observing/stores/availability.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { openEventStoreDb } from '../../src/stores/eventstoredb/event-store.js';
import { makeSeededRandom, makeTestClock, realClock } from '../support/fakes/clock.js';
import { listen } from '../support/servers/loopback.js';

function given() {
  const logged: {
    readonly level: number;
    readonly msg: string;
    readonly reason?: string;
    readonly error?: string;
  }[] = [];
  const told: string[] = [];
  const logger = pino(
    { base: null, level: 'debug' },
    { write: (line) => logged.push(JSON.parse(line) as (typeof logged)[number]) },
  );
  const report = makeReportStore({ logger, tell: (sentence) => told.push(sentence) });
  return { logger, logged, told, report };
}

test('Each change of a store is a line of the log and a sentence at the terminal', (t) => {
  const { logged, told, report } = given();
  const failure = new StoreUnavailable('the event store did not answer a read: refused');
  report({ store: 'EventStoreDB at a:1', kind: 'away', awayMs: 1_000, failure });
  report({ store: 'EventStoreDB at a:1', kind: 'still-away', awayMs: 61_000, failure: null });
  report({ store: 'EventStoreDB at a:1', kind: 'back', awayMs: 72_400, failure: null });
  t.deepEqual(told, [
    'stowage: waiting for EventStoreDB at a:1: the event store did not answer a read: refused',
    'stowage: still waiting for EventStoreDB at a:1, for 61 s: no answer',
    'stowage: EventStoreDB at a:1 answers again after 72 s',
  ]);
  t.deepEqual(
    logged.map(({ level, msg }) => [level, msg]),
    [
      [40, 'a store does not answer'],
      [40, 'a store still does not answer'],
      [30, 'a store answers again'],
    ],
  );
});

/** Returns the error of a read from a web server at the address of the log. */
async function failureAt(t: ExecutionContext, urlOf: (port: number) => string): Promise<Error> {
  const web = createServer((_request, response) => response.end('a web page'));
  const url = urlOf(await listen(t, web));
  const limits = { callMs: 120_000 };
  const random = makeSeededRandom(1);
  const store = openEventStoreDb({ url, streamPrefix: 'x.', clock: realClock, random, limits });
  t.teardown(() => store.close());
  return t.throwsAsync(store.head(), { instanceOf: StoreUnavailable });
}

test('A server that is not EventStoreDB or speaks no TLS is named in the reason', async (t) => {
  const { logged, report } = given();
  const away = { store: 'EventStoreDB', kind: 'away', awayMs: 1_000 } as const;
  report({ ...away, failure: await failureAt(t, (port) => `esdb://127.0.0.1:${port}?tls=false`) });
  report({ ...away, failure: await failureAt(t, (port) => `esdb://ada:canary@localhost:${port}`) });
  t.regex(logged[0]?.reason ?? '', /^the server there is not EventStoreDB; check the address \(/);
  t.regex(
    logged[1]?.reason ?? '',
    /^the server there does not speak TLS; check the address and the option tls \(/,
  );
  t.notRegex(JSON.stringify(logged), /canary/);
});

test('A failed attempt is a warning, unless the line about a store that is away covers it', (t) => {
  const clock = makeTestClock();
  const availability = {
    eventStore: makeAvailability(() => clock.steadyMs()),
    state: makeAvailability(() => clock.steadyMs()),
  };
  const { logger, logged } = given();
  const noteRetry = makeNoteRetry(logger, availability);
  const failure = new StoreUnavailable('away');
  // When attempts fail before, while and after a store is away
  noteRetry('before', failure);
  availability.state.unanswered();
  noteRetry('while', failure, { attempt: 2 });
  noteRetry('a defect', new Error('with a secret'));
  availability.state.answered();
  noteRetry('after', failure);
  // Then only the failures that the store explains are lines of the level debug, and no line quotes a foreign error
  t.deepEqual(
    logged.map(({ level, msg }) => [level, msg]),
    [
      [40, 'before'],
      [20, 'while'],
      [40, 'a defect'],
      [40, 'after'],
    ],
  );
  t.like(logged[1], { error: 'away', attempt: 2 });
  t.notRegex(logged[2]?.error ?? '', /secret/);
});
