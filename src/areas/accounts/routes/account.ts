import type { AccountDeps } from '../deps.js';
import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import { meOf } from '../../../../projections/accounts/users/reader.js';
import { meResource } from '../../../../projections/accounts/users/resource.js';
import { besideOthers, judged } from '../../../validation/zod-problems.js';
import { checkName, namePattern, optionalNamePattern } from '../../../validation/text.js';
import { signedIn, wrap, wrapped } from '../../../http/resources.js';
import { type Route, empty, finished, json, routesOf } from '../../../http/route.js';
import { emailField, newPassword, signedInBody, sessionOf } from './auth-fields.js';
import { nicknameLengthMax } from '../commands/registering.js';

const registration = z.strictObject({
  email: emailField,
  password: newPassword,
  nickname: z
    .string()
    .max(200)
    .meta({
      maxLength: 50,
      pattern: optionalNamePattern,
      description: "Left out or blank: the address's local part.",
    })
    .optional(),
});

/** An address to check the rules of a password with, where the given one is not valid. */
const standIn = 'a@example.com';

/** Makes registration and account routes (src/areas/accounts/README.md#registration, docs/api.md#44-post-apiv1authregister). */
export function makeAuthRoutes(deps: AccountCommands & Pick<AccountDeps, 'users'>): readonly Route[] {
  const { register, checkRegistration, hasFirstEnded, users } = deps;
  // The rules of a well-formed body count under a limit, so they run after its form.
  const rules = besideOthers<z.output<typeof registration>>(({ email, password, nickname }) =>
    checkRegistration({
      email: emailField.safeParse(email).data ?? standIn,
      password: typeof password === 'string' ? password : '',
      ...(typeof nickname === 'string' ? { nickname } : {}),
    }),
  );
  const route = routesOf({ tag: 'Accounts' });
  return [
    route('register', 'POST /api/v1/auth/register', {
      summary: 'Register an account by e-mail address and password',
      description:
        'Where the mail server lacks SMTPUTF8, an address with other than ASCII characters before its @ is 400 at `email`.',
      request: { body: registration.check(rules).meta({ id: 'Registration' }) },
      replies: { 201: json('The user, and tokens of a first session.', wrapped(signedIn)) },
      errors: ['email_taken', 'conflict'],
      limit: [
        { name: 'register', counts: [201, 409] },
        { name: 'register_invalid', counts: [400] },
      ],
      idempotent: true,
      isGone: ({ sessionId }) => hasFirstEnded(sessionId),
      check: ({ body }) => checkRegistration(withoutNone(body)),
      handler: async ({ body, trying: client, userAgent, command }) => {
        const registered = await register({ ...withoutNone(body), client, userAgent }, command);
        return { status: 201, body: signedInBody(registered) };
      },
    }),
    route('getMe', 'GET /api/v1/auth/me', {
      summary: 'The signed-in user',
      replies: { 200: json('The user.', wrapped(meResource)) },
      entityTag: true,
      handler: async ({ caller }) => {
        const found = await users.present(caller.user.document);
        return { status: 200, body: wrap(meOf(found.resource, caller.user)), revision: found.revision };
      },
    }),
  ];
}

function withoutNone({ nickname, ...rest }: z.output<typeof registration>) {
  return nickname === undefined ? rest : { ...rest, nickname };
}

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
export function makeAccountRoutes({ changeProfile, eraseUser }: AccountCommands): readonly Route[] {
  const route = routesOf({ tag: 'Accounts' });
  return [
    route('changeMe', 'PATCH /api/v1/auth/me', {
      summary: 'Change the own profile',
      request: { body: profileChange },
      replies: { 200: json('The user.', wrapped(meResource)) },
      ifMatch: true,
      handler: async ({ caller: { userId, user }, body: { nickname }, expectedRevision, command }) => {
        const { resource, revision } = await changeProfile({ userId, nickname }, command, {
          expectedRevision,
        });
        return { status: 200, body: wrap(meOf(resource, user)), revision };
      },
    }),
    route('eraseMe', 'DELETE /api/v1/auth/me', {
      summary: 'Delete the own account, the data of the person, and the projects without another member',
      replies: { 204: empty('The account is gone.') },
      errors: ['conflict'],
      handler: ({ caller, command }) =>
        finished(eraseUser({ userId: caller.userId, session: sessionOf(caller) }, command)),
    }),
  ];
}
