import { z } from 'zod';
import type { Register } from '../../commands/register.js';
import type { UserReader } from '../../../projections/users/reader.js';
import { accessMatrix } from '../access-matrix.js';
import { unauthorized } from '../credentials.js';
import { tokens, user, wrap, wrapped } from '../resources.js';
import { noBody, noParams, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';

/** The rules beyond shape are the use case's; lengths here only bound what it is given. */
const registration = z
  .strictObject({
    email: z
      .string()
      .max(320)
      .meta({ format: 'email', examples: ['ada@example.com'] }),
    password: z
      .string()
      .max(512)
      .meta({
        minLength: 10,
        maxLength: 128,
        description: 'At least 10 characters with upper-case and lower-case letters, digits and symbols.',
        examples: ['Correct-Horse-7-Battery'],
      }),
    nickname: z
      .string()
      .max(200)
      .meta({ maxLength: 50, description: "Left out or blank: the address's local part." })
      .optional(),
  })
  .meta({ id: 'Registration' });

/** Accounts: API document 4.4, DESIGN 4.1. */
export function makeAuthRoutes({
  register,
  users,
}: {
  readonly register: Register;
  readonly users: Pick<UserReader, 'find'>;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/register',
      name: 'register',
      tag: 'Accounts',
      summary: 'Register an account by e-mail address and password',
      access: accessMatrix.register,
      request: { params: noParams, query: noQuery, body: registration },
      replies: {
        201: {
          description: 'The user, and tokens of a first session.',
          schema: wrapped(z.strictObject({ user, tokens })),
        },
      },
      errors: ['email_taken', 'conflict'],
      limit: { name: 'register', counts: [201, 409] },
      idempotent: true,
      cacheControl: 'no-store',
      handler: async ({ body: { email, password, nickname }, client, userAgent, command }) => {
        const named = nickname === undefined ? {} : { nickname };
        const registered = await register(
          { email, password, ...named, clientIp: client, userAgent },
          command,
        );
        return { status: 201, body: wrap(registered) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/auth/me',
      name: 'getMe',
      tag: 'Accounts',
      summary: 'The signed-in user',
      access: accessMatrix.getMe,
      request: { params: noParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The user.', schema: wrapped(user) } },
      errors: [],
      entityTag: true,
      handler: async ({ caller }) => {
        const found = await users.find(caller.userId);
        // Erased since the gate let the request pass.
        if (found === null) throw unauthorized('the session has ended', 'invalid_token');
        return { status: 200, body: wrap(found.resource), revision: found.revision };
      },
    }),
  ];
}
