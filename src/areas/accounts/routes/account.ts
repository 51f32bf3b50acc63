import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import { noContent } from '../../../http/replies/reply.js';
import { meOf } from '../../../../projections/accounts/users/reader.js';
import { meResource } from '../../../../projections/accounts/users/resource.js';
import { checkName, namePattern } from '../../../validation/text.js';
import { judged } from '../../../validation/zod-problems.js';
import { nicknameLengthMax } from '../commands/registering.js';
import { wrap, wrapped } from '../../../http/resources.js';
import { noBody, noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';

const profileChange = z
  .strictObject({
    nickname: z
      .string()
      .max(200)
      .check(judged((text) => checkName(text, '', nicknameLengthMax)))
      .meta({ minLength: 1, maxLength: nicknameLengthMax, pattern: namePattern })
      .optional(),
  })
  .meta({ id: 'ProfileChange', description: 'What is left out stays.' });

/** Makes the routes of the caller's account (src/areas/accounts/README.md#rules-of-an-account). */
export function makeAccountRoutes({
  changeProfile,
  eraseUser,
}: Pick<AccountCommands, 'changeProfile' | 'eraseUser'>): readonly Route[] {
  return [
    defineRoute({
      method: 'PATCH',
      path: '/api/v1/auth/me',
      name: 'changeMe',
      tag: 'Accounts',
      summary: 'Change the own profile',
      request: { params: noParams, query: noQuery, body: profileChange },
      replies: { 200: { description: 'The user.', schema: wrapped(meResource) } },
      ifMatch: true,
      entityTag: true,
      handler: async ({ caller: { userId, user }, body: { nickname }, expectedRevision, command }) => {
        const { resource, revision } = await changeProfile({ userId, nickname }, command, {
          expectedRevision,
        });
        return { status: 200, body: wrap(meOf(resource, user)), revision };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/auth/me',
      name: 'eraseMe',
      tag: 'Accounts',
      summary: 'Delete the own account, the data of the person, and the projects without another member',
      request: { params: noParams, query: noQuery, body: noBody },
      replies: { 204: { description: 'The account is gone.', schema: noContent } },
      errors: ['conflict'],
      handler: async ({ caller: { userId }, command }) => {
        await eraseUser({ userId }, command);
        return { status: 204, body: undefined };
      },
    }),
  ];
}
