import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { LogEvent } from '../../src/event-sourcing/domain-event.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import { makeEmbeddedEventStore, openEventLog } from '../../src/stores/embedded/event-store.js';
import { readLog } from '../contracts/event-store-fixtures.js';
import { makeSeededRandom } from '../support/clock.js';
import { makeContext, makeDirectory } from '../support/embedded-directory.js';

const seed = Number(process.env['DEEP_SEED'] ?? 1);
const kills = Math.ceil(160 * Number(process.env['DEEP_BUDGET'] ?? 1));
/** A new directory after so many kills, so that looking through the log stays short. */
const killsPerDirectory = 20;
/** A process is killed a moment after it was told of so many appends at most: counted, so that the speed does not matter. */
const appendsMax = 100;

const appender = fileURLToPath(new URL('../support/embedded-appender.js', import.meta.url));

interface Acknowledged {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: string;
}

test(`kill -9 at ${kills} random moments (seed ${seed}) loses nothing that was acknowledged and leaves nothing half`, async (t) => {
  t.timeout(600_000);
  const acknowledgements = await Promise.all([0, 1].map((lane) => killAgainAndAgain(t, lane)));
  const total = acknowledgements.reduce((sum, count) => sum + count, 0);
  t.log(`${total} acknowledged appends`);
});

/** Half of the kills; two lanes at once keep two cores busy. Returns how many appends were acknowledged. */
async function killAgainAndAgain(t: ExecutionContext, lane: number): Promise<number> {
  const random = makeSeededRandom(seed + lane);
  let acknowledgements = 0;
  for (let done = 0; done < kills / 2; done += killsPerDirectory) {
    const { directory, remove } = makeDirectory();
    const acknowledged: Acknowledged[] = [];
    for (let kill = done; kill < Math.min(done + killsPerDirectory, kills / 2); kill += 1) {
      // Some are killed while they open the directory and recover what the one before them left.
      const early = kill % 10 === 9;
      const told = await appendAndKill(directory, { name: `${lane}-${kill}`, early, random });
      if (!early) t.true(told.length > 0, 'a process that is killed has appended before');
      acknowledged.push(...told);
      const context = makeContext(directory);
      const log = await openEventLog(context);
      try {
        await check(t, makeEmbeddedEventStore({ ...context, log, streamPrefix: 'stowage.' }), acknowledged);
      } finally {
        await log.close();
      }
    }
    acknowledgements += acknowledged.length;
    remove();
  }
  return acknowledgements;
}

/** How long the last process took to open its directory, milliseconds. */
let openingMs = 100;

/**
 * Runs a process that appends and kills it a moment after a number of appends, both drawn, or while it opens the directory;
 * returns what it was told is written.
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
    // The last line may have been cut off by the kill.
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
  t.deepEqual(lost, [], 'acknowledged, and not there');
  const gaps = log.filter((event, index) => Number(event.position) !== index + 1);
  t.deepEqual(gaps, [], 'positions are gapless');
  for (const [stream, events] of byStream) {
    const wrong = events.filter((event, index) => event.revision !== BigInt(index));
    t.deepEqual(wrong, [], `revisions of ${stream} are gapless`);
    t.deepEqual(halves(events), [], `appends to ${stream} are whole`);
    t.is((await store.read(stream)).length, events.length);
  }
}

/** The events of one stream whose append ends at a revision that is not there. */
function halves(events: readonly LogEvent[]): LogEvent[] {
  return events.filter((event) => Number(event.data['last']) >= events.length);
}
