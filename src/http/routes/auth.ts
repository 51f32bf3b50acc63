import { z } from 'zod';
import type { Register } from '../../commands/register.js';
import type { UserReader } from '../../../projections/users/reader.js';
import { accessMatrix } from '../access-matrix.js';
import { unauthorized } from '../credentials.js';
import { tokens, user, wrap, wrapped } from '../resources.js';
import { noBody, noParams, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';
import { emailField, newPassword } from './auth-fields.js';

const registration = z
  .strictObject({
    email: emailField,
    password: newPassword,
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
