import test from 'ava';
import { read } from './documents.js';

/**
 * What the service promises under a fault (src/http/access/README.md#limit-of-a-request,
 * src/observing/README.md#availability-of-stores,
 * src/composition/README.md#start, src/http/access/README.md#limits), and the test of the served process that holds it. The title is text of the
 * file.
 */
const rows: readonly (readonly [fault: string, promise: string, file: string, title: string])[] = [
  [
    'MongoDB is away',
    'the start waits, and the terminal names it',
    'test/servers/start.test.ts',
    'A start waits for a MongoDB that is away, says so, and listens when it can serve',
  ],
  [
    'MongoDB is away',
    'callbacks are accepted; sessions and keys are 503; everything works when it is back',
    'test/servers/away-rows.test.ts',
    'While MongoDB ${what}, callbacks are accepted, and every call with a session or a key is 503',
  ],
  [
    'EventStoreDB is away',
    'the start waits, and the terminal names it',
    'test/end-to-end/outage.test.ts',
    'A start waits for an EventStoreDB that is away, says so, and listens when it can serve',
  ],
  [
    'EventStoreDB is away',
    'reads go on; writes and callbacks are 503; everything works when it is back',
    'test/servers/away-rows.test.ts',
    'While EventStoreDB ${what}, reads go on, and writes and callbacks are 503',
  ],
  [
    'EventStoreDB is away',
    'the log has two lines, and reactions go on',
    'test/end-to-end/outage.test.ts',
    'A paid order is fulfilled within 2 s after an outage, and the outage has two lines in the log',
  ],
  [
    'the mail server is away',
    'requests are answered, the process is ready, and each mail arrives later, once',
    'test/end-to-end/mail-away.test.ts',
    'While the mail server ${what}, the served process answers, and it mails a code once when the server is back',
  ],
  [
    'a server is killed, frozen, cut off or slow, and answers after 3 s',
    'every reply comes within 20 s; no acknowledged write is lost or doubled',
    'test/servers/fault-rows.test.ts',
    'Nothing is lost or doubled while ${title} ${what}',
  ],
  [
    'a server answers after 3 s',
    'the row exists for the log and for MongoDB',
    'test/support/servers/fault-rows.ts',
    "'answers each call after 3 s for 10 s'",
  ],
  [
    'the clock is set by an hour',
    'the process is ready, sessions are refreshed, and writes are read',
    'test/end-to-end/clock-jumps.test.ts',
    'A served process whose clock is set ${what} keeps its sessions, and serves its own writes',
  ],
  [
    'the clock is set by an hour',
    'a limit delays a key by one period at most',
    'test/end-to-end/clock-jumps.test.ts',
    'A limit that was reached before the clock was set back an hour ends after its own period',
  ],
];

for (const [fault, promise, file, title] of rows) {
  test(`A test holds the row "${fault}: ${promise}"`, (t) => {
    t.true(read(file).includes(title), `${file} has no test with this title: ${title}`);
  });
}
