import { parse } from 'node:querystring';
import type { ParsedUrlQuery } from 'node:querystring';
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import type { ErrorCode } from './error-codes.js';
import { HttpError } from './http-error.js';

/**
 * Parses what came in with a route's schema.
 * @param where put before the field's name in the message: `query`, `path` or nothing for the body
 * @throws HttpError naming the first offending field and never its value
 */
export function validate<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  { where = '', code = 'invalid_request' }: { readonly where?: string; readonly code?: ErrorCode } = {},
): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // Words of our own cost a multiple of the check itself, so they are only asked for when there is something to say.
  const { error = result.error } = schema.safeParse(value, { error: nameMissing });
  throw new HttpError(code, describe(error, where));
}

/** JSON has no `undefined` that its author could look for. */
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
 * Makes the parser of a route's query. Pollers ask the same again and again, so the last hundred answers are remembered.
 * @throws HttpError 400, from what is returned
 */
export function makeQueryParser<Query>(schema: z.ZodType<Query>): (querystring: string) => Query {
  const remembered = new LRUCache<string, { readonly query: Query }>({ max: 100 });
  return (querystring) => {
    const known = remembered.get(querystring);
    if (known !== undefined) return known.query;
    const query = validate(schema, parseQuery(querystring), { where: 'query' });
    remembered.set(querystring, { query });
    return query;
  };
}

/**
 * A query string as an object. A parameter given twice has no one meaning.
 * @throws HttpError 400
 */
function parseQuery(querystring: string): ParsedUrlQuery {
  const query = parse(querystring);
  for (const name in query) {
    if (typeof query[name] === 'string') continue;
    throw new HttpError('invalid_request', 'query: a parameter is given twice');
  }
  return query;
}
