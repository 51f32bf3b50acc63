import { z } from 'zod';
import type { ChangePassword } from '../../commands/change-password.js';
import type { RevokeSession } from '../../commands/revoke-session.js';
import type { SessionReader } from '../../../projections/sessions/reader.js';
import type { UserReader } from '../../../projections/users/reader.js';
import { accessMatrix } from '../access-matrix.js';
import { unauthorized } from '../credentials.js';
import { pageOf, pageQuery, readPage } from '../paging.js';
import { noContent } from '../reply.js';
import { session, wrap, wrapped } from '../resources.js';
import { noBody, noParams, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';
import { knownPassword, newPassword } from './auth-fields.js';

const sessionParams = z.object({ sessionId: z.uuid().toLowerCase() });

const passwordChange = z
  .strictObject({
    current_password: knownPassword
      .meta({
        description:
          'May be left out within 15 minutes of signing in by a mailed code: that is the password reset.',
      })
      .optional(),
    new_password: newPassword,
  })
  .meta({ id: 'PasswordChange' });

/** A user's sessions, and the password that ends them: DESIGN 4.1. */
export function makeSessionRoutes({
  sessions,
  users,
  revokeSession,
  changePassword,
}: {
  readonly sessions: Pick<SessionReader, 'list'>;
  readonly users: Pick<UserReader, 'access'>;
  readonly revokeSession: RevokeSession;
  readonly changePassword: ChangePassword;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/auth/sessions',
      name: 'listSessions',
      tag: 'Accounts',
      summary: "The caller's sessions, newest first",
      access: accessMatrix.listSessions,
      request: { params: noParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of sessions.', schema: wrapped(pageOf(session)) } },
      errors: [],
      handler: async ({ query, caller: { userId, sessionId }, command: { time } }) => {
        const user = await users.access(userId);
        // Erased since the gate let the request pass.
        if (user === null) throw unauthorized('the session has ended', 'invalid_token');
        const page = await readPage(query, (wanted) => sessions.list({ ...user, id: userId }, wanted, time));
        const items = page.items.map((item) => ({ ...item, current: item.id === sessionId }));
        return { status: 200, body: wrap({ ...page, items }) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/auth/sessions/:sessionId',
      name: 'revokeSession',
      tag: 'Accounts',
      summary: 'End one of the caller’s sessions',
      access: accessMatrix.revokeSession,
      request: { params: sessionParams, query: noQuery, body: noBody },
      replies: { 204: { description: 'The session has ended.', schema: noContent } },
      errors: [],
      handler: async ({ params: { sessionId }, caller: { userId }, command }) => {
        await revokeSession({ userId, sessionId }, command);
        return { status: 204, body: undefined };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/password',
      name: 'changePassword',
      tag: 'Accounts',
      summary: 'Change the password, which ends all other sessions',
      access: accessMatrix.changePassword,
      request: { params: noParams, query: noQuery, body: passwordChange },
      replies: { 204: { description: 'The password is the new one.', schema: noContent } },
      errors: ['invalid_credentials', 'too_many_attempts', 'password_not_checkable'],
      limit: { name: 'login', counts: 'all' },
      handler: async ({ body, caller, client, command }) => {
        const { userId, sessionId, sessionEpoch, methods, authenticatedAt } = caller;
        const { current_password: currentPassword, new_password } = body;
        const session = { id: sessionId, epoch: sessionEpoch, methods, authenticatedAt };
        await changePassword(
          { userId, session, currentPassword, newPassword: new_password, clientIp: client },
          command,
        );
        return { status: 204, body: undefined };
      },
    }),
  ];
}
