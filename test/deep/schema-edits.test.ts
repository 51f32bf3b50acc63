import test from 'ava';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../src/event-sourcing/ports/domain-event.js';
import { makeEventCodec } from '../../src/event-sourcing/ports/event-codec.js';
import { codecs } from '../support/examples/every-event.js';
import { folderOf, release } from '../upgrades/recorded-service.js';
import { problemsOf, recordedEvents } from '../upgrades/recorded-events.js';

type Shape = Readonly<Record<string, z.ZodType>>;
/** Changes a field of a schema. Null where the edit does not apply to the recorded values. */
type Edit = (shape: Shape, field: string, values: readonly JsonValue[]) => Shape | null;

const without = (shape: Shape, field: string): Shape =>
  Object.fromEntries(Object.entries(shape).filter(([name]) => name !== field));
const withField =
  (change: (schema: z.ZodType, values: readonly JsonValue[]) => z.ZodType | null): Edit =>
  (shape, field, values) => {
    const changed = change(shape[field] ?? z.never(), values);
    return changed === null ? null : { ...shape, [field]: changed };
  };

/** Edits that recorded data cannot pass. */
const breaking: Readonly<Record<string, Edit>> = {
  renamed: (shape, field) => ({ ...without(shape, field), [`${field}_new`]: shape[field] ?? z.never() }),
  removed: without,
  retyped: withField((_, values) =>
    values.some((value) => typeof value === 'string') ? z.number() : z.string(),
  ),
  stricter: withField((schema, values) => {
    const refused = JSON.stringify(values[0]);
    return schema.refine((value) => JSON.stringify(value) !== refused);
  }),
  shorter: withField((_, values) => {
    const longest = Math.max(...values.map((value) => (typeof value === 'string' ? value.length : 0)));
    return longest === 0 ? null : z.string().max(longest - 1);
  }),
  'never null': withField((schema, values) =>
    values.includes(null) ? schema.refine((value) => value !== null) : null,
  ),
  'one more is required': (shape, field) => ({ ...shape, [`${field}_too`]: z.string() }),
};

/** Edits that recorded data can pass. */
const passing: Readonly<Record<string, Edit>> = {
  'one more is optional': (shape, field) => ({ ...shape, [`${field}_too`]: z.string().optional() }),
  'one more has a default': (shape, field) => ({ ...shape, [`${field}_too`]: z.string().default('none') }),
  optional: withField((schema) => schema.optional()),
  nullable: withField((schema) => schema.nullable()),
  'one more value': withField((schema) => z.union([schema, z.literal('a later word')])),
};

const events = recordedEvents(folderOf(release));

/** Returns each edit of each field with a recorded value, and whether the gate fails. */
function outcomesOf(edits: typeof breaking): readonly { readonly what: string; readonly fails: boolean }[] {
  return Object.entries(codecs).flatMap(([category, codec]) =>
    Object.entries(codec.schemas).flatMap(([type, schema]) => {
      if (!(schema instanceof z.ZodObject)) return [];
      const { shape } = schema as { readonly shape: Shape };
      const recorded = events.filter((event) => event.category === category && event.type === type);
      return Object.keys(shape).flatMap((field) => {
        const values = recorded.flatMap(({ data }) => (field in data ? [data[field] ?? null] : []));
        if (values.length === 0) return [];
        return Object.entries(edits).flatMap(([name, edit]) => {
          const edited = edit(shape, field, values);
          if (edited === null) return [];
          const schemas = { ...codec.schemas, [type]: z.strictObject(edited) as z.ZodType<JsonObject> };
          const fails = problemsOf(recorded, { [category]: makeEventCodec(schemas) }).length > 0;
          return [{ what: `${type}.${field} ${name}`, fails }];
        });
      });
    }),
  );
}

test('Each edit of a stored schema that recorded data cannot pass makes the upgrade gate fail', (t) => {
  const outcomes = outcomesOf(breaking);
  t.deepEqual(
    outcomes.filter(({ fails }) => !fails),
    [],
  );
  t.true(outcomes.length >= 50);
  t.log(`${outcomes.length} edits of ${Object.keys(breaking).join(', ')}`);
});

test('No edit of a stored schema that recorded data can pass makes it fail', (t) => {
  const outcomes = outcomesOf(passing);
  t.deepEqual(
    outcomes.filter(({ fails }) => fails),
    [],
  );
  t.true(outcomes.length >= 20);
  t.log(`${outcomes.length} edits of ${Object.keys(passing).join(', ')}`);
});
