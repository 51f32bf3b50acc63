import { readdirSync } from 'node:fs';
import test from 'ava';
import { actorInWords, everyAggregate, wordsOf } from '../../../projections/audit/words.js';
import type { DomainEvent, JsonObject, StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import { everyEvent } from '../../support/examples/every-event.js';
import { digest, nodeId, otherDigest, userId } from '../../support/examples/ids.js';

const examples = Object.entries(everyEvent).flatMap(([category, types]) =>
  Object.entries(types as Readonly<Record<string, JsonObject>>).map(([type, data]): StoredEvent => ({
    ...{ id: nodeId, stream: `${category}-${nodeId}`, revision: 3n, type, data },
    metadata: {
      ...{ command_id: nodeId, causation_id: nodeId, correlation_id: nodeId },
      actor: `user:${userId}`,
      time: '2026-01-02T03:04:05.000Z',
    },
    recordedAt: new Date('2026-01-02T03:04:06.000Z'),
  })),
);

/** Imports the codecs of all aggregates by their files, so that a new aggregate is found. */
async function everyCodec(): Promise<ReadonlyMap<unknown, readonly string[]>> {
  const folder = new URL('../../../src/areas/', import.meta.url);
  const found = new Map<unknown, readonly string[]>();
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((each) => /\/domain\/[^/]+\/events\.js$/.test(each))) {
    const exports = (await import(new URL(file, folder).href)) as Record<string, unknown>;
    for (const [name, value] of Object.entries(exports)) {
      if (name.endsWith('Codec')) found.set(value, (value as EventCodec<DomainEvent>).types);
    }
  }
  return found;
}

test('Every event type of every aggregate has words', async (t) => {
  const codecs = await everyCodec();
  t.true(codecs.size >= 14, `${codecs.size} codecs were found`);
  const withWords = new Set<unknown>(everyAggregate.map(({ codec }) => codec));
  for (const [codec, types] of codecs) t.true(withWords.has(codec), types.join());
  t.is(withWords.size, codecs.size);
  const said = new Set(examples.map(({ type }) => type));
  for (const types of codecs.values()) for (const type of types) t.true(said.has(type), type);
});

test('The words of every event are one sentence that begins with the actor and tells what happened', (t) => {
  const sentences = examples.map((event) => [event.type, wordsOf(event)] as const);
  for (const [type, sentence] of sentences) {
    t.regex(sentence, new RegExp(`^User ${userId} [a-z][^\\n]{10,700}[^.]\\.$`), type);
    t.notRegex(sentence, /no words|undefined|null|NaN|\[object/, type);
  }
  t.is(new Set(sentences.map(([, sentence]) => sentence)).size, sentences.length, 'each says something else');
});

test('The words contain no sealed value and no digest that is not the name of a stream or report', (t) => {
  for (const event of examples) {
    const sentence = wordsOf(event).replaceAll(`stripe-${digest}.0`, 'the report');
    t.notRegex(sentence, /v1\.|canary/, event.type);
    t.false(sentence.includes(digest) || sentence.includes(otherDigest), event.type);
    const holdsSealed = /"v1\./.test(JSON.stringify(event.data));
    if (holdsSealed) t.regex(sentence, /sealed/, event.type);
  }
});

test('An event that this version cannot decode has a sentence that says so', (t) => {
  const [example] = examples;
  if (example === undefined) throw new Error('no example');
  for (const odd of [
    { ...example, type: 'UserCloned' },
    { ...example, type: 'UserRegistered', data: { email: 'canary@example.com' } },
    { ...example, type: 'ProjectRenamed', data: { name: 'x' } },
    { ...example, stream: 'elsewhere-1' },
    { ...example, type: 'constructor' },
  ]) {
    const sentence = wordsOf(odd);
    t.is(
      sentence,
      `User ${userId} appended an event ${odd.type} to stream ${odd.stream}, for which this version has no words.`,
    );
  }
});

test('The actor of an event is named in words', (t) => {
  t.deepEqual(
    ['user:1', 'key:2', 'system:expire-order', 'operator', 'agent', 'anonymous', '', undefined].map(
      actorInWords,
    ),
    [
      'User 1',
      'API key 2',
      'The service (expire-order)',
      'The operator of the installation',
      'An edge agent',
      'A caller without sign-in',
      'An unknown actor',
      'An unknown actor',
    ],
  );
});
