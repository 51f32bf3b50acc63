import { z } from 'zod';
import type { ChangeProfile } from '../../commands/change-profile.js';
import type { EraseUser } from '../../commands/erase-user.js';
import { accessMatrix } from '../access-matrix.js';
import { noContent } from '../reply.js';
import { user, wrap, wrapped } from '../resources.js';
import { noBody, noParams, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';

const profileChange = z
  .strictObject({
    nickname: z.string().max(200).meta({ minLength: 1, maxLength: 50 }).optional(),
  })
  .meta({ id: 'ProfileChange', description: 'What is left out stays.' });

/** The caller's own account: DESIGN 4.1. */
export function makeAccountRoutes({
  changeProfile,
  eraseUser,
}: {
  readonly changeProfile: ChangeProfile;
  readonly eraseUser: EraseUser;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'PATCH',
      path: '/api/v1/auth/me',
      name: 'changeMe',
      tag: 'Accounts',
      summary: 'Change what is given of the own profile',
      access: accessMatrix.changeMe,
      request: { params: noParams, query: noQuery, body: profileChange },
      replies: { 200: { description: 'The user.', schema: wrapped(user) } },
      errors: [],
      ifMatch: true,
      entityTag: true,
      handler: async ({ caller: { userId }, body: { nickname }, expectedRevision, command }) => {
        const options = expectedRevision === undefined ? {} : { expectedRevision };
        const { resource, revision } = await changeProfile({ userId, nickname }, command, options);
        return { status: 200, body: wrap(resource), revision };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/auth/me',
      name: 'eraseMe',
      tag: 'Accounts',
      summary:
        'Delete the own account, all that is known of the person, and the projects that nobody else is in',
      access: accessMatrix.eraseMe,
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
