import { parse, type ParsedUrlQuery } from 'node:querystring';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ErrorCode } from './error-codes.js';
import { HttpError } from './http-error.js';

/**
 * @param where precedes the field's name in the message: `query`, `path` or nothing for the body
 * @throws HttpError naming the first offending field and never its value
 */
export function validate<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  { where = '', code = 'invalid_request' }: { readonly where?: string; readonly code?: ErrorCode } = {},
): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // Custom messages cost several times as much as the check, so they are made only after a failure.
  const { error = result.error } = schema.safeParse(value, { error: nameMissing });
  throw new HttpError(code, describe(error, where));
}

/** Replaces zod's message for a missing field, because JSON has no `undefined`. */
function nameMissing({ input }: { readonly input?: unknown }): string | undefined {
  return input === undefined ? 'is missing' : undefined;
}

function describe(error: z.ZodError, where: string): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'the request is invalid';
  const path = [where, ...issue.path.map(String)].filter((part) => part !== '').join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}

/**
 * Makes the parser of a route's query. It refuses a parameter that the schema does not have, unless the schema is a loose
 * object. It caches the last hundred results, because pollers repeat the same query. The parser throws HttpError 400.
 */
export function makeQueryParser<Query>(schema: z.ZodType<Query>): (querystring: string) => Query {
  const known = parameterNames(schema);
  const cached = new LRUCache<string, { readonly query: Query }>({ max: 100 });
  return (querystring) => {
    const earlier = cached.get(querystring);
    if (earlier !== undefined) return earlier.query;
    const given = parseQuery(querystring);
    for (const name in given) if (known?.has(name) === false) throw unknownParameter(known);
    const query = validate(schema, given, { where: 'query' });
    cached.set(querystring, { query });
    return query;
  };
}

/** Returns the parameters that a query may have; null for a query that is ignored. */
function parameterNames(schema: z.ZodType): ReadonlySet<string> | null {
  if (!(schema instanceof z.ZodObject)) throw new TypeError('the schema of a query must be an object');
  return schema.def.catchall === undefined ? new Set(Object.keys(schema.shape)) : null;
}

/** The sentence names what is possible. It does not repeat the text of the caller. */
function unknownParameter(known: ReadonlySet<string>): HttpError {
  const possible = known.size === 0 ? 'this call has none' : `this call has ${[...known].join(', ')}`;
  return new HttpError('invalid_request', `query: a parameter is unknown; ${possible}`);
}

/** A repeated parameter has no single meaning. @throws HttpError 400 */
function parseQuery(querystring: string): ParsedUrlQuery {
  const query = parse(querystring);
  for (const name in query) {
    if (typeof query[name] === 'string') continue;
    throw new HttpError('invalid_request', 'query: a parameter is given twice');
  }
  return query;
}
