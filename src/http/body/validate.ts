import { parse } from 'node:querystring';
import { z } from 'zod';
import { isJsonObject } from '../../event-sourcing/ports/domain-event.js';
import {
  type FieldProblem,
  InvalidInput,
  fieldProblem,
  listProblems,
} from '../../validation/field-problems.js';
import { fieldProblems } from '../../validation/zod-problems.js';
import { type ErrorCode, HttpError } from '../replies/error-codes.js';

/** @throws InvalidInput naming every field that is wrong and never its value */
export function validate<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // Words cost several times as much as the check, so they are made only after a failure.
  throw new InvalidInput(fieldProblems(schema, value));
}

/** Validates the parameters of a path. @throws HttpError with the code and all problems */
export function validatePath<Output>(schema: z.ZodType<Output>, value: unknown, code: ErrorCode): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = fieldProblems(schema, value, 'path');
  throw new HttpError(code, listProblems(problems), { problems });
}

/**
 * Makes the parser of a route's query. It refuses a parameter that the schema does not have, unless the schema is a loose
 * object. The parser throws InvalidInput.
 */
export function makeQueryParser<Query>(schema: z.ZodType<Query>): (querystring: string) => Query {
  const known = parameterNames(schema);
  return (querystring) => {
    const { query: given, problems } = readQuery(querystring, known);
    const result = schema.safeParse(given);
    if (problems.length > 0 || !result.success) {
      const named = new Set(problems.map(({ field }) => field));
      const others = fieldProblems(schema, given, 'query').filter(({ field }) => !named.has(field));
      throw new InvalidInput([...problems, ...others]);
    }
    return result.data;
  };
}

/** Returns the parameters that a query may have; null for a query that is ignored. */
function parameterNames(schema: z.ZodType): ReadonlySet<string> | null {
  if (!(schema instanceof z.ZodObject)) throw new TypeError('the schema of a query must be an object');
  return schema.def.catchall instanceof z.ZodUnknown ? null : new Set(Object.keys(schema.shape));
}

/** Returns the parameters that are known and given once, and the problems of the others. */
function readQuery(
  querystring: string,
  known: ReadonlySet<string> | null,
): { readonly query: Readonly<Record<string, string>>; readonly problems: readonly FieldProblem[] } {
  const query: Record<string, string> = {};
  const problems: FieldProblem[] = [];
  if (known === null) return { query, problems };
  for (const [name, value] of Object.entries(parse(querystring, '&', '=', { maxKeys: 0 }))) {
    if (!known.has(name)) {
      problems.push(fieldProblem(`query.${name}`, 'unknown', `is unknown (${possible(known)})`));
    } else if (typeof value === 'string') query[name] = value;
    // A repeated parameter has no single meaning.
    else problems.push(fieldProblem(`query.${name}`, 'repeated', 'is given twice'));
  }
  return { query, problems };
}

function possible(known: ReadonlySet<string>): string {
  return known.size === 0 ? 'this call has no parameters' : `this call has ${[...known].join(', ')}`;
}

/** Removes the nulls of optional texts from parsed JSON, in place. */
type Omit = (value: unknown) => void;

type Schema = z.core.$ZodType;

/**
 * Makes the function that removes from a body each null of an optional text, because many clients write null for a field that
 * they leave out. A text whose schema accepts null keeps it: null has a meaning there. The function changes the value.
 * @returns null for a schema without such a text
 */
export function makeOmitNullTexts(schema: Schema): Omit | null {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') return ofObject(def.shape);
  if (def.type === 'array') return ofEach(makeOmitNullTexts(def.element));
  if (def.type === 'union') return ofUnion(def);
  const inside = insideOf(schema);
  return inside === null ? null : makeOmitNullTexts(inside);
}

/** Returns whether a field of a body is an optional text that may not be null. */
function isOptionalText(field: Schema): boolean {
  if (field._zod.optin === undefined) return false;
  for (let schema: Schema | null = field; schema !== null; schema = insideOf(schema)) {
    const { def } = (schema as z.core.$ZodTypes)._zod;
    if (def.type === 'nullable') return false;
    if (def.type === 'string') return true;
    if (def.type === 'enum') return Object.values(def.entries).every((one) => typeof one === 'string');
  }
  return false;
}

/** Returns the schema that receives the value first, of a schema that wraps one. */
function insideOf(schema: Schema): Schema | null {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if ('innerType' in def) return def.innerType;
  return def.type === 'pipe' ? def.in : null;
}

function ofObject(shape: Readonly<Record<string, Schema>>): Omit | null {
  const texts = Object.keys(shape).filter((name) => isOptionalText(shape[name] as Schema));
  const parts = Object.entries(shape).flatMap(([name, field]): [string, Omit][] => {
    const omit = makeOmitNullTexts(field);
    return omit === null ? [] : [[name, omit]];
  });
  if (texts.length === 0 && parts.length === 0) return null;
  return (value) => {
    if (!isJsonObject(value)) return;
    for (const name of texts) if (value[name] === null) Reflect.deleteProperty(value, name);
    for (const [name, omit] of parts) omit(value[name]);
  };
}

function ofEach(omit: Omit | null): Omit | null {
  if (omit === null) return null;
  return (value) => {
    if (Array.isArray(value)) value.forEach(omit);
  };
}

/** The discriminator selects the variant whose texts count. Variants without one must not have optional texts. */
function ofUnion(def: z.core.$ZodUnionDef | z.core.$ZodDiscriminatedUnionDef): Omit | null {
  const variants = def.options.map((option) => ({ option, omit: makeOmitNullTexts(option) }));
  if (variants.every(({ omit }) => omit === null)) return null;
  if (!('discriminator' in def)) throw new TypeError('variants with optional texts need a discriminator');
  const { discriminator } = def;
  return (value) => {
    if (!isJsonObject(value)) return;
    const name = value[discriminator] as z.core.util.Primitive;
    const chosen = variants.find(({ option }) => option._zod.propValues?.[discriminator]?.has(name) === true);
    chosen?.omit?.(value);
  };
}
