import { z } from 'zod';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { operatorAccess } from '../../http/access/access.js';
import { noBody, noParams, noQuery } from '../../http/route-spec.js';
import { makeRoute, type Route } from '../../http/route.js';

/**
 * Makes a route of the socket that changes nothing: `GET /operator/user/list` for "user list".
 * @param operation the words of its command
 */
export function reading<Query>(
  operation: string,
  query: z.ZodType<Query>,
  run: (query: Query) => unknown,
): Route {
  return makeRoute({
    ...{ ...partsOf(operation), method: 'GET' },
    request: { params: noParams, query, body: noBody },
    handler: async ({ query: input }) => ({ status: 200, body: await run(input) }),
  });
}

/** Makes a route of the socket that changes something: `POST /operator/user/ban` for "user ban". @param operation see `reading` */
export function changing<Body>(
  operation: string,
  body: z.ZodType<Body>,
  run: (body: Body, context: CommandContext) => unknown,
): Route {
  return makeRoute({
    ...{ ...partsOf(operation), method: 'POST' },
    request: { params: noParams, query: noQuery, body },
    handler: async ({ body: input, command }) => ({ status: 200, body: await run(input, command) }),
  });
}

/** Makes a route of the socket that returns a file. @param operation see `reading` */
export function serving<Query>(
  operation: string,
  query: z.ZodType<Query>,
  read: (query: Query) => Promise<Buffer>,
): Route {
  const mediaType = 'application/octet-stream';
  return makeRoute({
    ...{ ...partsOf(operation), method: 'GET' },
    request: { params: noParams, query, body: noBody },
    replies: { 200: { description: 'The file.', schema: z.unknown(), mediaType } },
    handler: async ({ query: input }) => ({
      status: 200,
      prepared: { bytes: await read(input), tag: '"file"' },
    }),
  });
}

function partsOf(operation: string) {
  return {
    path: `/operator/${operation.replaceAll(' ', '/')}`,
    name: operation,
    tag: 'Operators',
    summary: operation,
    access: operatorAccess,
    replies: { 200: { description: 'The result.', schema: z.unknown() } },
  } as const;
}
