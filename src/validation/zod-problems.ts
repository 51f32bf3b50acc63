import { namePattern, checkName } from './text.js';
import { z } from 'zod';
import { type FieldProblem, type FieldProblemCode, InvalidInput, fieldProblem } from './field-problems.js';

type Issue = z.core.$ZodIssue;
type IssueCode = Issue['code'];
type IssueOf<Code extends IssueCode> = Extract<Issue, { readonly code: Code }>;

/** A problem without the name of its field. */
interface Words {
  readonly code: FieldProblemCode;
  readonly problem: string;
}

/**
 * Returns what is wrong with a value, in words of this service and without the value; one problem a field, the first one.
 * Empty when the value fits.
 * @param where precedes the names of the fields: `query`, `path`, or nothing for the body
 */
export function fieldProblems(schema: z.ZodType, value: unknown, where = ''): readonly FieldProblem[] {
  const { error } = schema.safeParse(value, { reportInput: true, error: markOurs });
  if (error === undefined) return [];
  const found = error.issues.flatMap((issue) => problemsOf(issue, where === '' ? [] : [where]));
  const all = [...found, ...problemsOfAllVariants(schema, value, where)];
  const first = new Map<string, FieldProblem>();
  for (const problem of all) if (!first.has(problem.field)) first.set(problem.field, problem);
  return [...first.values()];
}

/**
 * Makes a check of a schema from a rule that throws `InvalidInput`, so that one reply reports the rule beside the form of the
 * other fields. The rule names its field '', or the fields below it.
 */
export function ruled<Value>(rule: (value: Value) => unknown): z.core.CheckFn<Value> {
  return ({ value, issues }) => judge(() => rule(value), value, issues);
}

/** Makes a check as `ruled` does, from a rule that also returns the value in the form that the service keeps. */
export function judged<Value>(rule: (value: Value) => Value): z.core.CheckFn<Value> {
  return (payload) => {
    judge(
      () => {
        payload.value = rule(payload.value);
      },
      payload.value,
      payload.issues,
    );
  };
}

function judge(rule: () => unknown, input: unknown, issues: z.core.$ZodRawIssue[]): void {
  try {
    rule();
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    for (const { field, code, problem } of error.problems) {
      const path = field === '' ? [] : field.split('.');
      issues.push({ code: 'custom', input, path, message: problem, params: { code } });
    }
  }
}

/**
 * Makes a check of an object that runs only where other fields are wrong already: for a rule that a well-formed body meets
 * later, in its command. So one reply reports both. The value may lack fields, and have fields of other types.
 */
export function besideOthers<Value extends object>(
  rule: (value: { readonly [Name in keyof Value]?: unknown }) => unknown,
): z.core.$ZodCheck<Value> {
  const check = z.check<Value>(ruled<Value>(rule));
  check._zod.def.when = ({ value, issues }) =>
    issues.length > 0 && typeof value === 'object' && value !== null && !Array.isArray(value);
  return check;
}

/** Takes the place of zod's own messages. What a schema says itself stays. */
const ours = '';
const markOurs = (): string => ours;

type Path = readonly PropertyKey[];

function problemsOf(issue: Issue, base: Path): readonly FieldProblem[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'invalid_union') return problemsOfUnion(issue, path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => problemAt([...path, key], { code: 'unknown', problem: 'is unknown' }));
  }
  return [problemAt(path, withOwnWords(issue, wordsOf(issue)))];
}

function problemAt(path: Path, { code, problem }: Words): FieldProblem {
  return fieldProblem(path.map(String).join('.'), code, problem);
}

function withOwnWords({ message }: Issue, words: Words): Words {
  return message === ours || words === missing ? words : { ...words, problem: message };
}

const missing: Words = { code: 'missing', problem: 'is missing' };

/** The words for each code of zod's issues that concerns one value. */
const wordsByCode: {
  readonly [Code in Exclude<IssueCode, 'unrecognized_keys' | 'invalid_union'>]: (
    issue: IssueOf<Code>,
  ) => Words;
} = {
  invalid_type: ({ expected }) => ({
    code: 'type',
    problem: `must be ${typeWords.get(expected) ?? 'of another type'}`,
  }),
  invalid_value: ({ values }) => ({ code: 'not_allowed', problem: oneOf(values) }),
  too_small: ({ origin, minimum, inclusive = true, exact = false }) =>
    bounded(origin, exact, {
      ...{ bound: minimum, size: 'too_short', amount: 'too_small' },
      words: inclusive ? 'at least' : 'more than',
    }),
  too_big: ({ origin, maximum, inclusive = true, exact = false }) =>
    bounded(origin, exact, {
      ...{ bound: maximum, size: 'too_long', amount: 'too_large' },
      words: inclusive ? 'at most' : 'less than',
    }),
  invalid_format: (issue) => ({ code: 'format', problem: formatWords(issue) }),
  not_multiple_of: ({ divisor }) => ({ code: 'format', problem: `must be a multiple of ${divisor}` }),
  invalid_key: () => ({ code: 'not_allowed', problem: 'is not a possible name' }),
  invalid_element: () => ({ code: 'format', problem: 'has an entry that is not valid' }),
  custom: ({ params }) => ({ code: codeOfRule(params), problem: 'is not valid' }),
};

function wordsOf(issue: Exclude<Issue, { code: 'unrecognized_keys' | 'invalid_union' }>): Words {
  if (issue.input === undefined && issue.code !== 'custom') return missing;
  const words = wordsByCode[issue.code] as (issue: Issue) => Words;
  return words(issue);
}

function codeOfRule(params: IssueOf<'custom'>['params']): FieldProblemCode {
  return (params as { readonly code?: FieldProblemCode } | undefined)?.code ?? 'format';
}

/** The types of the fields of requests and settings. */
const typeWords: ReadonlyMap<string, string> = new Map([
  ['string', 'a text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['null', 'null'],
  ['undefined', 'left out'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['record', 'an object'],
]);

const sizes: ReadonlyMap<string, readonly [one: string, many: string]> = new Map([
  ['string', ['character', 'characters']],
  ['array', ['entry', 'entries']],
]);

interface Bound {
  readonly bound: number | bigint;
  readonly size: FieldProblemCode;
  readonly amount: FieldProblemCode;
  readonly words: string;
}

function bounded(origin: string, exact: boolean, { bound, size, amount, words }: Bound): Words {
  const units = sizes.get(origin);
  const limit = `${exact ? 'exactly' : words} ${bound}`;
  if (units === undefined) return { code: amount, problem: `must be ${limit}` };
  return { code: size, problem: `must have ${limit} ${bound === 1 ? units[0] : units[1]}` };
}

const formats: ReadonlyMap<string, string> = new Map([
  ['email', 'an e-mail address such as name@example.com'],
  ['url', 'a URL'],
  ['uuid', 'a UUID'],
  ['datetime', 'a time such as 2026-01-31T12:00:00.000Z (RFC 3339)'],
  ['ipv4', 'an IPv4 address'],
  ['ipv6', 'an IPv6 address'],
  ['base64url', 'base64url'],
]);

function formatWords(issue: IssueOf<'invalid_format'>): string {
  const known = formats.get(issue.format);
  return known === undefined ? 'does not have the expected form' : `must be ${known}`;
}

const valuesMax = 30;

function oneOf(values: readonly z.core.util.Primitive[]): string {
  const shown = values.slice(0, valuesMax).map(String).join(', ');
  if (values.length === 1) return `must be ${shown}`;
  return `must be one of ${shown}${values.length > valuesMax ? ` and ${values.length - valuesMax} more` : ''}`;
}

function problemsOfUnion(issue: IssueOf<'invalid_union'>, path: Path): readonly FieldProblem[] {
  if ('options' in issue && issue.discriminator !== undefined) {
    const given = (issue.input as Readonly<Record<string, unknown>> | undefined)?.[issue.discriminator];
    const allowed = oneOf(issue.options);
    if (given === undefined)
      return [problemAt(path, { code: 'missing', problem: `is missing: it ${allowed}` })];
    return [problemAt(path, { code: 'not_allowed', problem: allowed })];
  }
  if (issue.input === undefined) return [problemAt(path, missing)];
  const variants = issue.errors.map((issues) => issues.flatMap((one) => problemsOf(one, path)));
  const own = problemAt(path, { code: 'type', problem: '' }).field;
  // The variants that the value resembles: those of its type, and of these the ones with the fewest problems.
  const ofType = variants.filter(
    (problems) => !problems.some(({ field, code }) => field === own && code === 'type'),
  );
  const fewest = Math.min(...ofType.map(({ length }) => length));
  const [closest, ...others] = ofType.filter(({ length }) => length === fewest);
  if (closest !== undefined && others.length === 0) return closest;
  return [alternatives(own, ofType.length > 0 ? ofType : variants)];
}

/** A value with many wrong fields would repeat them for each variant. */
const listedPerVariantMax = 5;

/** Says that a value fits no variant, and what each one lacks. */
function alternatives(own: string, variants: readonly (readonly FieldProblem[])[]): FieldProblem {
  const phrases = variants.map((problems) => {
    const listed = problems
      .slice(0, listedPerVariantMax)
      .map(({ field, problem }) =>
        field === own ? problem : `${field.slice(own === '' ? 0 : own.length + 1)} ${problem}`,
      );
    const more = problems.length - listed.length;
    return [...listed, ...(more > 0 ? [`${more} more`] : [])].join(' and ');
  });
  const code = variants.flat().every((problem) => problem.code === variants[0]?.[0]?.code)
    ? variants[0]?.[0]?.code
    : undefined;
  const isOfOwn = variants.flat().every(({ field }) => field === own);
  const listed = [...new Set(phrases)].join(', or ');
  return {
    field: own,
    code: (isOfOwn ? code : undefined) ?? 'not_allowed',
    problem: isOfOwn ? listed : `fits no allowed form: ${listed}`,
  };
}

/**
 * Where the discriminator of a body is wrong, zod checks nothing else. Returns the problems that every variant has with the body, so
 * that they are reported at once.
 */
function problemsOfAllVariants(schema: z.ZodType, value: unknown, where: string): readonly FieldProblem[] {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return [];
  const [first = [], ...others] = (schema.options as readonly z.ZodType[]).map((variant) =>
    fieldProblems(variant, value, where),
  );
  const kindOf = ({ field, code }: FieldProblem): string => `${code} ${field}`;
  const known = others.map((problems) => new Set(problems.map(kindOf)));
  return first.filter((problem) => known.every((kinds) => kinds.has(kindOf(problem))));
}

/** Makes the schema of a name that people give: checked, and in the form that the service keeps. */
export function nameField(example: string) {
  return z
    .string()
    .max(256)
    .check(judged((text) => checkName(text, '')))
    .meta({ minLength: 1, maxLength: 64, pattern: namePattern, examples: [example] });
}
