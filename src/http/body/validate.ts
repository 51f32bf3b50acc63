import { parse } from 'node:querystring';
import { z } from 'zod';
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
  return schema.def.catchall === undefined ? new Set(Object.keys(schema.shape)) : null;
}

/** Returns the parameters that are known and given once, and the problems of the others. */
function readQuery(
  querystring: string,
  known: ReadonlySet<string> | null,
): { readonly query: Readonly<Record<string, string>>; readonly problems: readonly FieldProblem[] } {
  const query: Record<string, string> = {};
  const problems: FieldProblem[] = [];
  for (const [name, value] of Object.entries(parse(querystring))) {
    if (known?.has(name) === false) {
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
