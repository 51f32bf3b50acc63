import { openEmbeddedStores } from '../../../src/stores/embedded/open-embedded-stores.js';
import type { NewEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { makeSeededRandom, realClock } from '../fakes/clock.js';
import { metadataOf } from '../examples/metadata.js';

/**
 * A process that appends to a data directory until it is killed. It prints `opening` before it opens the directory and
 * `ready` afterwards. It prints one line for each append after its acknowledgement: the stream, the revision and
 * position of its last event, and the number of its events.
 */
const [directory = '', name = '', seed = '0'] = process.argv.slice(2);
const random = makeSeededRandom(Number(seed) * 2 ** 32);
process.stdout.write('opening\n');
const { eventStore } = await openEmbeddedStores({
  directory,
  streamPrefix: 'stowage.',
  clock: realClock,
  random,
  onFatal: (error) => {
    throw error;
  },
});
process.stdout.write('ready\n');
await Promise.all(Array.from({ length: 4 }, (_, writer) => appendForEver(`thing-${name}-${writer}`)));

async function appendForEver(series: string): Promise<void> {
  for (let round = 0; ; round += 1) {
    const stream = `${series}-${Math.floor(round / 10)}`;
    const revision = BigInt((await eventStore.read(stream)).length) - 1n;
    const events = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) =>
      makeEvent(stream, revision + 1n + BigInt(index)),
    );
    // Every event contains the last revision of its append, so that a test can tell half of an append from a whole one.
    const last = String(revision + BigInt(events.length));
    const marked = events.map((event) => ({ ...event, data: { ...event.data, last } }));
    const appended = await eventStore.append(stream, revision < 0n ? 'no-stream' : revision, marked);
    if (appended === null) throw new Error('nothing was appended');
    process.stdout.write(`${stream} ${appended.revision} ${appended.position} ${events.length}\n`);
  }
}

function makeEvent(stream: string, revision: bigint): NewEvent {
  return {
    id: `${stream}/${revision}`,
    type: 'ThingHappened@1',
    data: { text: 'x'.repeat(Math.floor(random() * 600)) },
    metadata: metadataOf('c', 'system:test'),
  };
}
