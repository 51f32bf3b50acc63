import type autocannon from 'autocannon';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { asObject, storageRequest, textOf } from '../../support/clients/service-client.js';
import { connections } from '../load.js';
import type { Program } from './programs.js';
import { password } from '../logins.js';
import type { Requests } from './sides.js';

const json = { 'content-type': 'application/json' };

/** What the rows ask of PocketBase: each connection is a user with a project, a storage and 50 assets, as in Stowage. */
export async function makePocketBaseScene({ name: program, url, pid }: Program) {
  const records = (collection: string): string => `/api/collections/${collection}/records`;
  const members: { headers: Record<string, string>; user: string; project: string; storage: string }[] = [];
  for (let index = 0; index < connections; index += 1) {
    const email = emailOf(index);
    await call(url, records('users'), { email, password, passwordConfirm: password });
    const signedIn = await call(url, signInPath, { identity: email, password });
    const headers = { ...json, authorization: textOf(signedIn, 'token') };
    const user = textOf(asObject(signedIn['record']), 'id');
    const add = async (collection: string, body: JsonObject): Promise<string> =>
      textOf(await call(url, records(collection), body, headers), 'id');
    const project = await add('projects', { name: 'Film', members: [user] });
    const storage = await add('storages', storageOf(project));
    for (let n = 0; n < 50; n += 1) await add('assets', assetOf(project, storage));
    members.push({ headers, user, project, storage });
  }
  const side = (requestOf: (member: (typeof members)[number]) => autocannon.Request): Requests => ({
    ...{ program, url, pid },
    connect: (connection) => {
      const member = members[connection % connections] as (typeof members)[number];
      // The load program adds the length of a body to the headers, and a GET with it would wait for that body.
      const request = { headers: { ...member.headers }, ...requestOf(member) };
      return { next: () => request };
    },
  });
  const creation = (collection: string, bodyOf: (member: (typeof members)[number]) => JsonObject): Requests =>
    side((member) => ({ method: 'POST', path: records(collection), body: JSON.stringify(bodyOf(member)) }));
  return {
    get: side(({ storage }) => ({ path: `${records('storages')}/${storage}` })),
    list: side(({ project }) => ({
      path: `${records('assets')}?perPage=50&sort=-created&filter=${encodeURIComponent(`project="${project}"`)}`,
    })),
    asset: creation('assets', ({ project, storage }) => assetOf(project, storage)),
    storage: creation('storages', ({ project }) => storageOf(project)),
    project: creation('projects', ({ user }) => ({ name: 'Film', members: [user] })),
    /** Signs a user in. @returns the seconds to wait before the next attempt */
    signIn: async (n: number): Promise<number> => {
      await call(url, signInPath, { identity: emailOf(n % connections), password });
      return 0;
    },
  };
}

const signInPath = '/api/collections/users/auth-with-password';

/** What the refresh asks of Better Auth: each connection renews a session. */
export async function makeBetterAuthScene({ name: program, url, pid }: Program): Promise<Requests> {
  const cookies: string[] = [];
  for (let index = 0; index < connections; index += 1) {
    const reply = await fetch(`${url}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { ...json, origin: url },
      body: JSON.stringify({ email: emailOf(index), password, name: 'Ada' }),
    });
    if (!reply.ok) throw new Error(`${program} answered ${reply.status}: ${await reply.text()}`);
    cookies.push(
      reply.headers
        .getSetCookie()
        .map((cookie) => cookie.split(';')[0])
        .join('; '),
    );
  }
  return {
    ...{ program, url, pid },
    connect: (connection) => {
      const request = { path: '/api/auth/get-session', headers: { cookie: cookies[connection] ?? '' } };
      return { next: () => request };
    },
  };
}

/** Koa answers with as many bytes, and stores the callbacks of another side first. */
export function makeKoaSides({ name, url, pid }: Program) {
  return {
    constant: (size: number): Requests => ({
      ...{ program: `${name}, constant`, url, pid },
      connect: () => ({ next: () => ({ path: `/${size}` }) }),
    }),
    callbacks: (of: Requests, size: number): Requests => {
      // Genuine callbacks, of which it stores one again and again.
      const request = { ...of.connect(0).next(), path: `/${size}` };
      return {
        ...{ program: `${name}, HMAC and a durable row`, url, pid },
        connect: () => ({ next: () => request }),
      };
    },
  };
}

function emailOf(index: number): string {
  return `user-${index}@example.org`;
}

function storageOf(project: string): JsonObject {
  const { name, provider, bucket, region } = storageRequest('Rushes') as Record<string, string>;
  return {
    ...{ project, name: name ?? '', provider: provider ?? '', bucket: bucket ?? '', region: region ?? '' },
    ...{ access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
  };
}

function assetOf(project: string, storage: string): JsonObject {
  return { project, storage, media_type: 'video/mp4', size: 1, name: 'Rhine' };
}

async function call(
  url: string,
  path: string,
  body: JsonObject,
  headers: Record<string, string> = json,
): Promise<JsonObject> {
  const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path} was answered ${reply.status}: ${text}`);
  return asObject(JSON.parse(text));
}
