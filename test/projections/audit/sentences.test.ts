import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { z } from 'zod';
import { wordsOf } from '../../../projections/audit/words.js';
import type { JsonObject, JsonValue, StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { codecs, everyEvent } from '../../support/examples/every-event.js';
import { nodeId } from '../../support/examples/ids.js';
import { recordEvents } from '../../support/given/given-events.js';

/**
 * What auditors read of each event: of its example, and of each change of one field that changes more of the sentence than the
 * field itself. Reviewers see a changed sentence in its words.
 */
const file = join('test', 'projections', 'audit', 'sentences.txt');
const howToWrite = 'WRITE_SENTENCES=1 npm run test:one -- projections/audit/sentences writes the file again';

type Category = keyof typeof everyEvent;
type Path = readonly (string | number)[];
/** Undefined: the field is left out. */
type Value = JsonValue | undefined;

/** Words that fields of examples have, which may be values of other fields too. */
const words = [
  ...new Set(JSON.stringify(everyEvent).match(/(?<=")[a-z][a-z_]{1,30}(?=")/g) ?? []),
  ...[
    'revoked',
    'refused',
    'read',
    'editor',
    'viewer',
    'admin',
    'owner',
    'member',
    'web_store',
    'end',
    'keep',
  ],
];

test('The sentence of every event, and of its variants, is the recorded one', (t) => {
  const sentences = (Object.keys(everyEvent) as Category[]).flatMap((category) =>
    Object.entries(everyEvent[category] as Readonly<Record<string, JsonObject>>).flatMap(([type, data]) =>
      sentencesOf(category, type, data),
    ),
  );
  const text = `${sentences.join('\n')}\n`;
  if (process.env['WRITE_SENTENCES'] === '1') writeFileSync(file, text);
  const recorded = readFileSync(file, 'utf8').split('\n');
  t.deepEqual(text.split('\n'), recorded, howToWrite);
});

function sentencesOf(category: Category, type: string, data: JsonObject): readonly string[] {
  const said = (path: Path, value: Value): string | null => {
    const [event] = recorded(category, type, changedAt(data, path, value) as JsonObject);
    return event === undefined ? null : readable(wordsOf(event));
  };
  // Other words fit no field of the type.
  const schema = JSON.stringify(
    z.toJSONSchema(codecs[category].schemas[type] ?? z.never(), { unrepresentable: 'any' }),
  );
  const wordsOfType = words.filter((word) => schema.includes(`"${word}"`));
  const first = said([], data) ?? '';
  const seen = new Set([first]);
  const lines = [`${type}: ${first}`];
  for (const path of pathsIn(data)) {
    const value = at(data, path);
    const isFree = typeof value === 'string' && said(path, 'free text') !== null;
    for (const other of [undefined, null, ...(isFree ? [] : variantsOf(value, wordsOfType))]) {
      const sentence = said(path, other);
      // A sentence that only names the other value says nothing new.
      if (sentence === null || seen.has(sentence) || seen.has(withWord(sentence, other, value))) continue;
      seen.add(sentence);
      lines.push(
        `${type} with ${path.join('.')} ${other === undefined ? 'left out' : readable(JSON.stringify(other))}: ${sentence}`,
      );
    }
  }
  return lines;
}

/** Writes a value in the place of another one. */
function withWord(sentence: string, from: Value, to: Value): string {
  if (typeof from !== typeof to || typeof from === 'object' || typeof to === 'object') return sentence;
  return sentence.replaceAll(new RegExp(`(?<![\\w-])${from}(?![\\w-])`, 'g'), String(to));
}

/** Records an event; nothing where its schema refuses the data. */
function recorded(category: Category, type: string, data: JsonObject): readonly StoredEvent[] {
  try {
    return recordEvents({ category, codec: codecs[category] }, nodeId, [{ type, data }]);
  } catch {
    return [];
  }
}

/** Returns the paths of all values in an object, of lists those of the first element. */
function pathsIn(value: JsonValue, path: Path = []): readonly Path[] {
  const names = Array.isArray(value) ? [0].slice(0, value.length) : Object.keys(value ?? {});
  const inner =
    typeof value === 'object' ? names.flatMap((name) => pathsIn(at(value, [name]), [...path, name])) : [];
  return path.length === 0 ? inner : [path, ...inner];
}

function variantsOf(value: JsonValue, wordsOfType: readonly string[]): readonly JsonValue[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [0, 1, 2];
  if (typeof value === 'string') return /^[a-z][a-z_]*$/.test(value) ? wordsOfType : [];
  if (value === null) return [true, 1, 'free text', '2026-04-01T00:00:00.000Z', []];
  if (!Array.isArray(value)) return [];
  const list: readonly JsonValue[] = value;
  return [[], [...list, ...list]];
}

function at(value: JsonValue, path: Path): JsonValue {
  return path.reduce<JsonValue>((inner, name) => (inner as JsonObject)[name] ?? null, value);
}

function changedAt(value: JsonValue, [name, ...rest]: Path, changed: Value): Value {
  if (name === undefined) return changed;
  const inner = changedAt(at(value, [name]), rest, changed);
  const copy = structuredClone(value) as Record<string | number, Value>;
  if (inner === undefined) Reflect.deleteProperty(copy, name);
  else copy[name] = inner;
  return copy as JsonObject;
}

/** Shortens ids and digests. */
function readable(sentence: string): string {
  return sentence
    .replaceAll(/019b7d00-0000-7000-8000-0000000000(\w\w)/g, 'id-$1')
    .replace(/^A caller without sign-in /, '')
    .replaceAll(/(?:ab){32}/g, 'digest-1')
    .replaceAll(/(?:cd){32}/g, 'digest-2');
}
