import test from 'ava';
import { givenFreshAccount, minuteMs, statusOf } from '../../../support/given/fresh-account.js';
import { makeTestClock } from '../../../support/fakes/clock.js';
import { totpCode } from '../../../support/fakes/authenticator-app.js';
import { answered } from '../../../support/clients/passkey-calls.js';
import { tokenOf } from '../../../support/given/replies.js';
import { password } from '../../../support/servers/http-service.js';
import { textOf } from '../../../support/clients/service-client.js';

const reauthenticate = '/api/v1/auth/reauthenticate';
const stale = '403 reauthentication_required';

type Session = Readonly<Record<'authorization', string>>;

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

test('An owner is added, demoted or removed only after a fresh sign-in', async (t) => {
  const account = await givenFreshAccount(t);
  const { ask, wait, signIn } = account;
  const ada = await signIn();
  const project = await account.makeProject(ada);
  const me = answered(await account.get('/api/v1/auth/me', { ...ada }));
  const { authorization } = await wait(16 * minuteMs, ada);
  const path = `/api/v1/projects/${project}/members/${textOf(me, 'id')}`;
  const headers = { authorization };
  t.is(statusOf(await ask(path, { method: 'PATCH', json: { role: 'viewer' }, headers })), stale);
  t.is(statusOf(await ask(path, { method: 'DELETE', headers })), stale);
  const owner = { email: 'thief@example.net', role: 'owner' };
  t.is(statusOf(await account.post(`/api/v1/projects/${project}/members`, owner, headers)), stale);
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
  const listed = answered(await account.get('/api/v1/auth/sessions', { ...later }));
  const sessions = listed['items'] as readonly {
    readonly current: boolean;
    readonly authenticated_at: string;
  }[];
  const session = sessions.find(({ current }) => current);
  t.is(session?.authenticated_at, new Date(account.clock.now().getTime() - 15 * minuteMs - 1).toISOString());
});

test('A sign-in of a time when the clock was a day ahead opens no sensitive call, and the password opens them', async (t) => {
  // Given a session that began while the clock was ahead
  const account = await givenFreshAccount(t);
  const { post } = account;
  const enrol = (session: Session) => post('/api/v1/auth/2fa/totp', {}, { ...session });
  account.clock.advance(1_440 * minuteMs);
  const signedIn = await account.signIn();
  // When the clock is put right
  const session = await account.wait(-1_440 * minuteMs, signedIn);
  // Then the sign-in is not fresh for a day, and a proof is fresh for 15 minutes
  t.is(statusOf(await enrol(session)), stale);
  t.is((await post(reauthenticate, { password }, { ...session })).status, 204);
  t.is((await enrol(session)).status, 201);
  const later = await account.wait(15 * minuteMs + 1, session);
  t.is(statusOf(await enrol(later)), stale);
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
  const first = { authorization: '', refreshToken: tokenOf(answer, 'refresh_token') };
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
  const device_token = textOf(answered(other), 'device_token');
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
  const enrolled = answered(await post('/api/v1/auth/2fa/totp', {}, { ...session }));
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

test('A clock that is set back leaves no session fresh for the length of the step, and the password opens it again', async (t) => {
  const clock = makeTestClock();
  const { post, signIn, wait, codeFor } = await givenFreshAccount(t, { clock });
  // Given a session with proofs of both kinds, by a clock that is six hours ahead
  const ahead = await wait(0, await signIn());
  t.is((await post(reauthenticate, { password }, { ...ahead })).status, 204);
  const code = await codeFor('ada@example.com');
  t.is((await post(reauthenticate, { code }, { ...ahead })).status, 204);
  // When the clock is set right
  clock.set(-360 * minuteMs);
  const session = await wait(0, ahead);
  const enrol = () => post('/api/v1/auth/2fa/totp', {}, { ...session });
  const setPassword = () =>
    post('/api/v1/auth/password', { new_password: 'Another-Horse-8' }, { ...session });
  // Then it needs the proofs again, and they count
  t.is(statusOf(await enrol()), stale);
  t.is((await post(reauthenticate, { password }, { ...session })).status, 204);
  t.is((await enrol()).status, 201);
  t.is(statusOf(await setPassword()), '400 invalid_request');
  const later = await wait(16 * minuteMs, session);
  t.is(statusOf(await post('/api/v1/auth/2fa/totp', {}, { ...later })), stale);
});
