import { z } from 'zod';
import type { ChangeProfile } from '../../commands/change-profile.js';
import { accessMatrix } from '../access-matrix.js';
import { user, wrap, wrapped } from '../resources.js';
import { noParams, noQuery } from '../route-spec.js';
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
}: {
  readonly changeProfile: ChangeProfile;
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
  ];
}
