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
  throw new HttpError(code, describe(result.error, where));
}

function describe(error: z.ZodError, where: string): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'the request is invalid';
  const path = [where, ...issue.path.map(String)].filter((part) => part !== '').join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}

/**
 * A query string as an object. A parameter given twice has no one meaning.
 * @throws HttpError 400
 */
export function parseQuery(querystring: string): Record<string, string> {
  if (querystring === '') return {};
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(querystring)) {
    if (query.has(name)) throw new HttpError('invalid_request', 'query: a parameter is given twice');
    query.set(name, value);
  }
  return Object.fromEntries(query);
}
