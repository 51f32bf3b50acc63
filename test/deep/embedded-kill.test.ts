import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { LogEvent } from '../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { makeEmbeddedEventStore, openEventLog } from '../../src/stores/embedded/log/event-store.js';
import { readLog } from '../contracts/event-store-fixtures.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { makeContext, makeDirectory } from '../support/servers/embedded-directory.js';

const seed = Number(process.env['DEEP_SEED'] ?? 1);
const kills = Math.ceil(160 * Number(process.env['DEEP_BUDGET'] ?? 1));
/** The number of kills before a new directory begins, so that reading the log stays short. */
const killsPerDirectory = 20;
/** The largest number of acknowledged appends before a kill. Counting them makes the test independent of the speed. */
const appendsMax = 100;

const appender = fileURLToPath(new URL('../support/servers/embedded-appender.js', import.meta.url));

interface Acknowledged {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: string;
}

test(`A kill -9 at ${kills} random moments (seed ${seed}) loses no acknowledged append and leaves none half written`, async (t) => {
  t.timeout(600_000);
  const acknowledgements = await Promise.all([0, 1].map((lane) => killAgainAndAgain(t, lane)));
  const total = acknowledgements.reduce((sum, count) => sum + count, 0);
  t.log(`${total} acknowledged appends`);
});

/** Runs half of the kills; two concurrent lanes keep two cores busy. Returns the number of acknowledged appends. */
async function killAgainAndAgain(t: ExecutionContext, lane: number): Promise<number> {
  const random = makeSeededRandom(seed + lane);
  let acknowledgements = 0;
  for (let done = 0; done < kills / 2; done += killsPerDirectory) {
    const { directory, remove } = makeDirectory();
    const acknowledged: Acknowledged[] = [];
    for (let kill = done; kill < Math.min(done + killsPerDirectory, kills / 2); kill += 1) {
      // Some processes are killed while they open the directory and recover the state that the previous one left.
      const early = kill % 10 === 9;
      const written = await appendAndKill(directory, { name: `${lane}-${kill}`, early, random });
      if (!early) t.true(written.length > 0, 'the process has appended before the kill');
      acknowledged.push(...written);
      const context = makeContext(directory);
      const log = await openEventLog(context);
      try {
        await check(t, makeEmbeddedEventStore({ ...context, log, streamPrefix: 'stowage.' }), acknowledged);
      } finally {
        await log.close();
        await context.thread.terminate();
      }
    }
    acknowledgements += acknowledged.length;
    remove();
  }
  return acknowledgements;
}

/** The time in milliseconds that the last process took to open its directory. */
let openingMs = 100;

/**
 * Runs a process that appends. Kills it a moment after a number of appends, both random, or while it opens the
 * directory. Returns the acknowledged appends.
 */
async function appendAndKill(
  directory: string,
  { name, early, random }: { readonly name: string; readonly early: boolean; readonly random: () => number },
): Promise<Acknowledged[]> {
  const child = spawn(process.execPath, [appender, directory, name, String(random())], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const killAfter = (ms: number): void => {
    void delay(ms).then(() => child.kill('SIGKILL'));
  };
  const [appends, moment] = [1 + Math.floor(random() * appendsMax), random()];
  const acknowledged: Acknowledged[] = [];
  let openedMs = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'opening') {
      openedMs = performance.now();
      if (early) killAfter(moment * openingMs);
      continue;
    }
    if (line === 'ready') {
      if (!early) openingMs = performance.now() - openedMs;
      continue;
    }
    const [stream, revision, position, count] = line.split(' ');
    // The kill may have cut the last line off.
    if (stream === undefined || revision === undefined || position === undefined || count === undefined)
      break;
    acknowledged.push({ stream, revision: BigInt(revision), position });
    if (!early && acknowledged.length === appends) killAfter(moment * 10);
  }
  await exited;
  return acknowledged;
}

async function check(
  t: ExecutionContext,
  store: EventStore,
  acknowledged: readonly Acknowledged[],
): Promise<void> {
  const log = (await readLog(store, null)).flatMap((page) => page.events);
  const byStream = new Map<string, LogEvent[]>();
  for (const event of log) byStream.set(event.stream, [...(byStream.get(event.stream) ?? []), event]);
  const positions = new Map(log.map((event) => [`${event.stream} ${event.revision}`, event.position]));
  const lost = acknowledged.filter(
    ({ stream, revision, position }) => positions.get(`${stream} ${revision}`) !== position,
  );
  t.deepEqual(lost, [], 'no acknowledged append is missing');
  const gaps = log.filter((event, index) => Number(event.position) !== index + 1);
  t.deepEqual(gaps, [], 'positions are gapless');
  for (const [stream, events] of byStream) {
    const wrong = events.filter((event, index) => event.revision !== BigInt(index));
    t.deepEqual(wrong, [], `revisions of ${stream} are gapless`);
    t.deepEqual(halves(events), [], `appends to ${stream} are whole`);
    t.is((await store.read(stream)).length, events.length);
  }
}

/** Returns the events of one stream whose append ends at a revision that is not stored. */
function halves(events: readonly LogEvent[]): LogEvent[] {
  return events.filter((event) => Number(event.data['last']) >= events.length);
}
