import test from 'ava';
import { z } from 'zod';
import {
  InvalidInput,
  fieldProblemCodes,
  listProblems,
  phraseOf,
} from '../../../src/validation/field-problems.js';
import { fieldProblems } from '../../../src/validation/zod-problems.js';
import { makeQueryParser } from '../../../src/http/body/validate.js';
import { libraryWording } from '../../support/clients/http-contract.js';
import { makeSeededRandom } from '../../support/fakes/clock.js';
import { startTestService } from '../../support/servers/http-service.js';
import { brokenValue, wrongType, validValue } from '../../support/simulation/fuzz/values.js';
import { type Dice, makeDice, type Shape, shapeOf } from '../../support/simulation/fuzz/shapes-and-dice.js';

/** A value that no field of the service takes, and that no reply may repeat. */
const canary = 'canary-7f3a';

interface BrokenBody {
  readonly body: Readonly<Record<string, unknown>>;
  /** The fields that were broken, and the code that each must have; null for any. */
  readonly broken: ReadonlyMap<string, string | null>;
}

/** Breaks at least one field of a body: it is left out, of a wrong type, against a rule, or unknown. */
function breakBody(shape: Shape, dice: Dice): BrokenBody {
  const branch = dice.pick(shape.anyOf ?? shape.oneOf ?? [shape]);
  const { properties = {}, required = [] } = branch;
  const body = { ...(validValue(branch, dice) as Record<string, unknown>) };
  const broken = new Map<string, string | null>();
  // The field that selects the variant stays: another value would make other fields wrong.
  const names = Object.entries(properties).filter(([, { const: only }]) => only === undefined);
  for (const [name, of] of names.filter(() => dice.chance(0.4))) {
    if (required.includes(name) && dice.chance(0.4)) {
      Reflect.deleteProperty(body, name);
      broken.set(name, 'missing');
      continue;
    }
    const isPlain = ['string', 'integer', 'boolean'].includes(String(of.type));
    body[name] = isPlain ? { [canary]: canary } : canary;
    // A field that may have several types has no certain problem.
    if (of.type !== undefined) broken.set(name, isPlain ? null : 'type');
  }
  addUnknown(body, broken, dice);
  return { body, broken };
}

function addUnknown(body: object, broken: Map<string, string | null>, dice: Dice): void {
  if (broken.size > 0 && dice.chance(0.7)) return;
  const unknown = dice.pick(['extra', '__proto__', 'Name', 'prénom', 'a.b', '"', '\u202e']);
  Object.defineProperty(body, unknown, { value: canary, enumerable: true, configurable: true });
  broken.set(unknown.replace('\u202e', '\ufffd'), 'unknown');
}

test('Every field that is wrong is named at once, in our words and without its value, on every route', async (t) => {
  const { routes } = await startTestService(t);
  const dice = makeDice(makeSeededRandom(7));
  let bodies = 0;
  for (const { name, request, raw } of routes) {
    if (request.body instanceof z.ZodUndefined || raw !== undefined) continue;
    const shape = shapeOf(request.body);
    for (let run = 0; run < 12; run += 1) {
      const { body, broken } = breakBody(shape, dice);
      const problems = fieldProblems(request.body, body);
      const said = `${name} ${JSON.stringify(body)}: ${listProblems(problems)}`;
      for (const [field, code] of broken) {
        const found = problems.filter((one) => one.field === field || one.field.startsWith(`${field}.`));
        t.true(found.length > 0, `${field} in ${said}`);
        if (code !== null)
          t.true(
            found.some((one) => one.code === code),
            `${field} ${code} in ${said}`,
          );
      }
      for (const problem of problems) {
        t.true(fieldProblemCodes.includes(problem.code), said);
        t.notRegex(problem.problem, libraryWording, said);
        t.false(problem.problem.includes(canary), said);
        t.regex(problem.problem, /^(?:must|is|are|has|does|names|resolves|takes|cannot|fits) /, said);
      }
      bodies += 1;
    }
  }
  t.true(bodies >= 12 * 60, `${bodies}`);
});

// test/deep/http-fuzz.test.ts sends such values over HTTP, by the thousand.
test('A refusal of a body, a query or a path has our words, for every wrong value', async (t) => {
  const { routes } = await startTestService(t);
  const dice = makeDice(makeSeededRandom(8));
  let refused = 0;
  for (const { name, request, raw } of routes) {
    const parts = raw === undefined ? [request.body, request.query, request.params] : [request.params];
    for (const schema of parts.filter((one) => !(one instanceof z.ZodUndefined))) {
      const shape = shapeOf(schema);
      for (let run = 0; run < 12; run += 1) {
        const value = dice.chance(0.7) ? brokenValue(shape, dice) : wrongType(shape, dice);
        const problems = fieldProblems(schema, value, 'query');
        t.is(problems.length === 0, schema.safeParse(value).success, name);
        refused += Math.min(1, problems.length);
        t.notRegex(problems.map(phraseOf).join('\n'), libraryWording, `${name} ${JSON.stringify(value)}`);
        const phrases = problems.map(({ problem }) => problem);
        t.false(
          phrases.some((one) => one === '' || one.length > 1_000),
          `${name}: ${phrases.join('; ')}`,
        );
      }
    }
  }
  t.true(refused > 900, `${refused}`);
});

test('Unknown, repeated and wrong parameters of a query are named together', (t) => {
  const read = makeQueryParser(
    z.object({
      limit: z.coerce.number().int().min(1).default(50),
      sort: z.enum(['name', '-name']),
      day: z.iso.date(),
    }),
  );
  const error = t.throws(() => read('limit=x&page=2&sort=size&day=1&day=2'), { instanceOf: InvalidInput });
  t.deepEqual(
    error.problems.map(({ field, code }) => [field, code]),
    [
      ['query.page', 'unknown'],
      ['query.day', 'repeated'],
      ['query.limit', 'type'],
      ['query.sort', 'not_allowed'],
    ],
  );
  t.is(
    error.message,
    'query.page is unknown (this call has limit, sort, day); query.day is given twice; query.limit must be a number; ' +
      'query.sort must be one of name, -name',
  );
});

test('Every kind of rule has its words', (t) => {
  const variants = z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('a'), name: z.string(), x: z.int() }),
    z.strictObject({ kind: z.literal('b'), name: z.string() }),
  ]);
  const either = z.union([
    z.strictObject({ p: z.string() }),
    z.strictObject({ q: z.string(), r: z.string() }),
  ]);
  const cases: readonly (readonly [z.ZodType, unknown, string])[] = [
    [z.string(), undefined, 'the body is missing'],
    [z.string(), 1, 'the body must be a text'],
    [z.boolean(), 1, 'the body must be true or false'],
    [z.number(), Number.NaN, 'the body must be a number'],
    [z.int(), 1.5, 'the body must be a whole number'],
    [z.array(z.string()), {}, 'the body must be a list'],
    [z.record(z.string(), z.string()), [], 'the body must be an object'],
    [z.string().min(2), 'x', 'the body must have at least 2 characters'],
    [z.string().max(1), 'xy', 'the body must have at most 1 character'],
    [z.string().length(3), 'xy', 'the body must have exactly 3 characters'],
    [z.array(z.int()).min(1), [], 'the body must have at least 1 entry'],
    [z.number().min(1), 0, 'the body must be at least 1'],
    [z.number().lt(1), 1, 'the body must be less than 1'],
    [z.int().positive(), 0, 'the body must be more than 0'],
    [z.number().multipleOf(5), 3, 'the body must be a multiple of 5'],
    [z.enum(['a', 'b']), 'c', 'the body must be one of a, b'],
    [z.literal('a'), 'c', 'the body must be a'],
    [z.uuid(), 'c', 'the body must be a UUID'],
    [z.url(), 'c', 'the body must be a URL'],
    [z.email(), 'c', 'the body must be an e-mail address such as name@example.com'],
    [z.iso.datetime(), 'c', 'the body must be a time such as 2026-01-31T12:00:00.000Z (RFC 3339)'],
    [z.string().regex(/^a$/), 'c', 'the body does not have the expected form'],
    [z.string().regex(/^a$/, 'must be a'), 'c', 'the body must be a'],
    [z.string().refine(() => false), 'c', 'the body is not valid'],
    [z.record(z.string().max(1), z.int()), { long: 1 }, 'long is not a possible name'],
    [variants, {}, 'kind is missing: it must be one of a, b; name is missing'],
    [variants, { kind: 'c', name: 1 }, 'kind must be one of a, b; name must be a text'],
    [variants, { kind: 'a', name: 'x' }, 'x is missing'],
    [either, { p: 1 }, 'p must be a text'],
    [either, { q: 'x' }, 'r is missing'],
    [either, 'x', 'the body must be an object'],
    [z.union([z.string(), z.null()]), 1, 'the body must be a text, or must be null'],
  ];
  for (const [schema, value, sentence] of cases) t.is(listProblems(fieldProblems(schema, value)), sentence);
});

test('Each of many problems is counted, and twenty are listed at most', (t) => {
  const body = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`f${at}`, 1]));
  const few = listProblems(fieldProblems(z.strictObject({}), body));
  t.regex(few, /^f0 is unknown; f1 is unknown; .*f19 is unknown; and 12 more$/);
  const long = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`${at}${'x'.repeat(150)}`, 1]));
  const many = listProblems(fieldProblems(z.strictObject({}), long));
  t.true(many.length <= 1_050, `${many.length}`);
  t.regex(many, /…is unknown|… is unknown; and \d+ more$/);
});

test.serial('The work on the unknown fields of a body with variants grows no faster than the body', (t) => {
  // Given
  const schema = z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('a') }),
    z.strictObject({ kind: z.literal('b') }),
  ]);
  const fields = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`field_${at}`, at]));
  // When
  const before = process.cpuUsage();
  const problems = fieldProblems(schema, { kind: 'a', ...fields });
  // Then
  t.true(process.cpuUsage(before).user < 4_000_000);
  t.is(problems.length, 40_000);
});
