import type { AccountDeps } from '../deps.js';
import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import { pageOf, pageQuery, readPage } from '../../../../projections/paging.js';
import { noContent } from '../../../http/replies/reply.js';
import { session, wrap, wrapped } from '../../../http/resources.js';
import { noBody, noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { deviceOfSession, knownPassword, newPassword } from './auth-fields.js';

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

/** Makes the routes of a user's sessions, and of the password change that ends them (src/areas/accounts/README.md#sessions). */
export function makeSessionRoutes({
  sessions,
  revokeSession,
  changePassword,
  knownDevices,
}: Pick<AccountCommands, 'revokeSession' | 'changePassword' | 'knownDevices'> &
  Pick<AccountDeps, 'sessions'>): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/auth/sessions',
      name: 'listSessions',
      tag: 'Accounts',
      summary: "The caller's sessions, newest first",
      request: { params: noParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of sessions.', schema: wrapped(pageOf(session)) } },
      handler: async ({ query, caller: { userId, sessionId, user }, command: { time } }) => {
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
      request: { params: sessionParams, query: noQuery, body: noBody },
      replies: { 204: { description: 'The session has ended.', schema: noContent } },
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
      request: { params: noParams, query: noQuery, body: passwordChange },
      replies: { 204: { description: 'The password is the new one.', schema: noContent } },
      errors: ['invalid_credentials', 'too_many_attempts', 'password_not_checkable'],
      limit: { name: 'login', counts: 'all' },
      deviceOf: deviceOfSession(knownDevices),
      handler: async ({ body, caller, client, device: known, command }) => {
        const { userId, sessionId, sessionEpoch, emailCodeAt } = caller;
        const { current_password: currentPassword, new_password } = body;
        const session = { id: sessionId, epoch: sessionEpoch, emailCodeAt };
        await changePassword(
          { userId, session, currentPassword, newPassword: new_password, clientIp: client, known },
          command,
        );
        return { status: 204, body: undefined };
      },
    }),
  ];
}
