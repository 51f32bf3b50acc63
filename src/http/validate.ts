import { parse, type ParsedUrlQuery } from 'node:querystring';
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
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

/** Caches the last hundred results, because pollers repeat the same query. The parser throws HttpError 400. */
export function makeQueryParser<Query>(schema: z.ZodType<Query>): (querystring: string) => Query {
  const cached = new LRUCache<string, { readonly query: Query }>({ max: 100 });
  return (querystring) => {
    const known = cached.get(querystring);
    if (known !== undefined) return known.query;
    const query = validate(schema, parseQuery(querystring), { where: 'query' });
    cached.set(querystring, { query });
    return query;
  };
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
