import test from 'ava';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { appendEvents } from '../../../support/given/append-events.js';
import {
  type FreshAccount,
  givenFreshAccount,
  minuteMs,
  statusOf,
} from '../../../support/given/fresh-account.js';
import { totpCode } from '../../../support/fakes/authenticator-app.js';
import { password } from '../../../support/servers/http-service.js';
import { asObject, textOf } from '../../../support/clients/service-client.js';

const reauthenticate = '/api/v1/auth/reauthenticate';
const stale = '403 reauthentication_required';

type Session = Readonly<Record<'authorization', string>>;

/** Sends every request that needs a fresh sign-in of a user without a second factor. Returns the replies by name. */
async function sendSensitive(
  { ask, post }: FreshAccount,
  { authorization }: Session,
  project: string,
): Promise<Readonly<Record<string, string>>> {
  const headers = { authorization };
  const url = `/api/v1/projects/${project}`;
  const nobody = '019b7d00-0000-7000-8000-00000000ffff';
  const requests = {
    'request of an address': () => post('/api/v1/auth/email', { email: 'thief@example.net' }, headers),
    'confirmation of an address': () => post('/api/v1/auth/email/confirm', { code: '123456' }, headers),
    password: () => post('/api/v1/auth/password', { new_password: 'Thiefs-Horse-9' }, headers),
    'enrolment of TOTP': () => post('/api/v1/auth/2fa/totp', {}, headers),
    'confirmation of TOTP': () => post('/api/v1/auth/2fa/totp/confirm', { code: '123456' }, headers),
    'removal of TOTP': () => post('/api/v1/auth/2fa/totp/remove', { code: '123456' }, headers),
    'recovery codes': () => post('/api/v1/auth/2fa/recovery-codes', { code: '123456' }, headers),
    'API key': () => post(`${url}/api-keys`, { name: 'k', scopes: ['storage:read'] }, headers),
    'another owner': () => post(`${url}/members`, { email: 'thief@example.net', role: 'owner' }, headers),
    'role of an owner': () =>
      ask(`${url}/members/${nobody}`, { method: 'PATCH', json: { role: 'owner' }, headers }),
    'no second factor of members': () => ask(url, { method: 'PATCH', json: { require_2fa: false }, headers }),
    'deletion of the account': () => ask('/api/v1/auth/me', { method: 'DELETE', headers }),
  };
  const replies: Record<string, string> = {};
  for (const [name, send] of Object.entries(requests)) replies[name] = statusOf(await send());
  return replies;
}

test('A stolen access token of a stale session changes no address, password or factor and deletes no account', async (t) => {
  // Given an access token of a session that began 16 minutes ago
  const account = await givenFreshAccount(t);
  const project = await account.makeProject(await account.signIn());
  const stolen = await account.wait(16 * minuteMs, await account.signIn());
  // When a thief uses it in its ten minutes
  const replies = await sendSensitive(account, stolen, project);
  // Then each request is refused
  for (const [name, reply] of Object.entries(replies)) t.is(reply, stale, name);
  // and the account is as it was
  const me = asObject(asObject((await account.get('/api/v1/auth/me', { ...stolen })).json)['data']);
  t.like(me, { email: 'ada@example.com', two_factor_enabled: false });
  t.truthy((await account.signIn()).authorization, 'the password is the same');
});

test('Calls that change no credential need no fresh sign-in', async (t) => {
  const account = await givenFreshAccount(t);
  const { post, ask, wait, signIn } = account;
  const project = await account.makeProject(await signIn());
  const { authorization } = await wait(16 * minuteMs, await signIn());
  const url = `/api/v1/projects/${project}`;
  t.is(
    (await ask(url, { method: 'PATCH', json: { name: 'Rivers' }, headers: { authorization } })).status,
    200,
  );
  const viewer = { email: 'bob@example.com', role: 'viewer' };
  t.is((await post(`${url}/members`, viewer, { authorization })).status, 201);
  t.is((await post('/api/v1/auth/logout', {}, { authorization })).status, 204);
});

test('An owner is demoted or removed only after a fresh sign-in', async (t) => {
  const account = await givenFreshAccount(t);
  const { ask, wait, signIn } = account;
  const ada = await signIn();
  const project = await account.makeProject(ada);
  const me = asObject(asObject((await account.get('/api/v1/auth/me', { ...ada })).json)['data']);
  const { authorization } = await wait(16 * minuteMs, ada);
  const path = `/api/v1/projects/${project}/members/${textOf(me, 'id')}`;
  const headers = { authorization };
  t.is(statusOf(await ask(path, { method: 'PATCH', json: { role: 'viewer' }, headers })), stale);
  t.is(statusOf(await ask(path, { method: 'DELETE', headers })), stale);
  t.is((await account.post(reauthenticate, { password }, headers)).status, 204);
  t.is(statusOf(await ask(path, { method: 'DELETE', headers })), '409 conflict', 'the last owner stays');
});

test('The password opens sensitive calls for 15 minutes, to the millisecond', async (t) => {
  const account = await givenFreshAccount(t);
  const { post, signIn } = account;
  const enrol = (session: Session) => post('/api/v1/auth/2fa/totp', {}, { ...session });
  const first = await signIn();
  t.is((await enrol(first)).status, 201, 'a sign-in is fresh');
  const stolen = await account.wait(16 * minuteMs, first);
  t.is(statusOf(await enrol(stolen)), stale);
  const answer = await post(reauthenticate, { password }, { ...stolen });
  t.is(answer.status, 204, answer.text);
  t.is((await enrol(stolen)).status, 201, 'the same access token');
  const later = await account.wait(15 * minuteMs, stolen);
  t.is((await enrol(later)).status, 201);
  account.clock.advance(1);
  t.is(statusOf(await enrol(later)), stale);
  const listed = asObject(asObject((await account.get('/api/v1/auth/sessions', { ...later })).json)['data']);
  const sessions = listed['items'] as readonly {
    readonly current: boolean;
    readonly authenticated_at: string;
  }[];
  const session = sessions.find(({ current }) => current);
  t.is(session?.authenticated_at, new Date(account.clock.now().getTime() - 15 * minuteMs - 1).toISOString());
});

test('A mailed code opens sensitive calls, and lets the password be set without the current one', async (t) => {
  const account = await givenFreshAccount(t);
  const { post, signIn, wait, codeFor } = account;
  const session = await wait(16 * minuteMs, await signIn());
  const code = await codeFor('ada@example.com');
  t.is((await post(reauthenticate, { code }, { ...session })).status, 204);
  t.is(statusOf(await post(reauthenticate, { code }, { ...session })), '401 invalid_credentials', 'one use');
  const changed = await post('/api/v1/auth/password', { new_password: 'Another-Horse-8' }, { ...session });
  t.is(changed.status, 204, changed.text);
  t.truthy((await signIn('ada@example.com', 'Another-Horse-8')).authorization);
});

test('A password that was proved again does not replace the current one in a change of it', async (t) => {
  const account = await givenFreshAccount(t);
  const { post, codeFor, wait, ask } = account;
  const code = await codeFor('ada@example.com');
  const answer = await post('/api/v1/auth/email-code/login', { email: 'ada@example.com', code });
  const tokens = asObject(asObject(asObject(answer.json)['data'])['tokens']);
  const first = { authorization: '', refreshToken: textOf(tokens, 'refresh_token') };
  const session = await wait(16 * minuteMs, first);
  t.is((await post(reauthenticate, { password }, { ...session })).status, 204);
  const headers = { authorization: session.authorization };
  const change = await ask('/api/v1/auth/password', {
    ...{ method: 'POST', json: { new_password: 'Thiefs-Horse-9' }, headers },
  });
  t.is(statusOf(change), '400 invalid_request');
});

test("Another account's code, a wrong code, a wrong password and a body with both or none are refused", async (t) => {
  const account = await givenFreshAccount(t);
  const { post, signUp, codeFor, signIn, wait } = account;
  const session = await wait(16 * minuteMs, await signIn());
  await signUp('bob');
  const foreign = await codeFor('bob@example.com');
  const own = await codeFor('ada@example.com');
  const wrong = own === '000000' ? '000001' : '000000';
  const send = async (body: object) => statusOf(await post(reauthenticate, body, { ...session }));
  if (foreign !== own) t.is(await send({ code: foreign }), '401 invalid_credentials');
  t.is(await send({ code: wrong }), '401 invalid_credentials');
  t.is(await send({ password: 'Wrong-Horse-7' }), '401 invalid_credentials');
  for (const body of [{}, { password, code: own }, { code: 'abc' }, { password: 7 }, { passkey: 'x' }]) {
    t.is(await send(body), '400 invalid_request', JSON.stringify(body));
  }
  t.is(statusOf(await post(reauthenticate, { password })), '401 unauthorized');
  t.is(statusOf(await post('/api/v1/auth/2fa/totp', {}, { ...session })), stale);
});

test('Wrong codes and passwords of a reauthentication count at the limits of sign-ins', async (t) => {
  const account = await givenFreshAccount(t);
  const { post, signIn, codeFor, clock } = account;
  const session = await signIn();
  const code = await codeFor('ada@example.com');
  const wrong = code === '000000' ? '000001' : '000000';
  for (let n = 0; n < 5; n += 1) await post(reauthenticate, { code: wrong }, { ...session });
  t.is(statusOf(await post(reauthenticate, { code }, { ...session })), '429 too_many_attempts');
  clock.advance(1_000);
  t.is(
    statusOf(await post(reauthenticate, { code }, { ...session })),
    '401 invalid_credentials',
    'five attempts',
  );
  const email = 'ada@example.com';
  const other = await post('/api/v1/auth/login', { email, password });
  const device_token = textOf(asObject(asObject(other.json)['data']), 'device_token');
  const byCode = await post('/api/v1/auth/email-code/login', { email, code, device_token });
  t.is(statusOf(byCode), '401 invalid_credentials', 'they count for sign-ins too');
  const send = async () =>
    statusOf(await post(reauthenticate, { password: 'Wrong-Horse-7' }, { ...session }));
  for (let n = 0; n < 5; n += 1) t.is(await send(), '401 invalid_credentials');
  t.is(await send(), '429 too_many_attempts');
});

test('With a second factor on, only that opens sensitive calls', async (t) => {
  const account = await givenFreshAccount(t);
  const { post, signIn, wait, clock } = account;
  const session = await signIn();
  const enrolled = asObject(asObject((await post('/api/v1/auth/2fa/totp', {}, { ...session })).json)['data']);
  const secret = textOf(enrolled, 'secret');
  const code = totpCode(secret, clock.now());
  t.is((await post('/api/v1/auth/2fa/totp/confirm', { code }, { ...session })).status, 200);
  const later = await wait(16 * minuteMs, session);
  t.is((await post(reauthenticate, { password }, { ...later })).status, 204);
  const change = { email: 'ada@example.net' };
  t.is(statusOf(await post('/api/v1/auth/email', change, { ...later })), '403 two_factor_required');
  const next = totpCode(secret, clock.now());
  t.is((await post('/api/v1/auth/2fa/verify', { code: next }, { ...later })).status, 200);
  t.is((await post('/api/v1/auth/email', change, { ...later })).status, 200);
});

test('Operators decide on payments only with a second factor, and a fresh one', async (t) => {
  const account = await givenFreshAccount(t);
  const { post, get, signIn, wait, stores, clock } = account;
  const session = await signIn();
  const userId = (await account.commands.findAccount(stores.digests.email('ada@example.com')))?.userId ?? '';
  const granted = { type: 'PlatformRoleGranted', data: { role: 'operator' } } as const;
  await appendEvents(stores.handler, { aggregate: userAggregate, id: userId }, [granted], clock.now());
  const resolve = (headers: Session) =>
    post(
      `/api/v1/admin/payments/standard-${'0'.repeat(64)}@0/resolve`,
      { action: 'dismiss', note: 'n' },
      {
        ...headers,
      },
    );
  t.is(statusOf(await resolve(session)), '403 two_factor_required');
  const list = () => get('/api/v1/admin/payments/unmatched', { ...session });
  t.is(statusOf(await list()), '403 two_factor_required');
  await account.passTwoFactor(session);
  t.is((await list()).status, 200);
  t.is(statusOf(await resolve(session)), '404 not_found');
  const later = await wait(16 * minuteMs, session);
  t.is(statusOf(await resolve(later)), '403 two_factor_required');
});
