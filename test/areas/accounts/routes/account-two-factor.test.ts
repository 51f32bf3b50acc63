import test, { type ExecutionContext } from 'ava';
import { securityOf } from '../../../../src/http/document/openapi-components.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { otherThan, totpCode } from '../../../support/fakes/authenticator-app.js';
import { answered, sessionOf } from '../../../support/clients/passkey-calls.js';
import { sendRequest } from '../../../support/clients/send-request.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { logOf } from '../../../support/given/log.js';
import { tokenOf } from '../../../support/given/replies.js';
import { startTestService, type TestService } from '../../../support/servers/http-service.js';
import { asObject, textOf } from '../../../support/clients/service-client.js';

const twoFactor = '/api/v1/auth/2fa';

/** The headers of a session. */
type Session = Readonly<Record<'authorization', string>>;

/** Turns TOTP on for the session's user, and waits for the next code. */
async function turnOn(t: ExecutionContext, { post, clock }: TestService, session: Session) {
  const enrolled = await post(`${twoFactor}/totp`, {}, session);
  t.is(enrolled.status, 201, enrolled.text);
  t.is(enrolled.headers.get('cache-control'), 'no-store');
  const secret = textOf(answered(enrolled), 'secret');
  const code = () => totpCode(secret, clock.now());
  const confirmed = await post(`${twoFactor}/totp/confirm`, { code: code() }, session);
  t.is(confirmed.status, 200, confirmed.text);
  t.is(confirmed.headers.get('cache-control'), 'no-store');
  const recoveryCodes = answered(confirmed)['recovery_codes'] as readonly string[];
  clock.advance(30_000);
  return { code, recoveryCodes };
}

/** Starts another session of the same user, like a sign-in by password. It has passed no second factor. */
async function signInAgain({ commands, clock }: TestService, session: Session): Promise<Session> {
  const token = session.authorization.slice('Bearer '.length);
  const verdict = await commands.accessTokens.verify(token);
  if (!verdict.valid) throw new Error(verdict.code);
  const { userId } = verdict.claims;
  const input = { userId, epoch: 0, methods: ['pwd'], client: null, userAgent: null } as const;
  const { tokens } = await commands.startSession(input, givenContext(8_000, clock.now()));
  return { authorization: `Bearer ${tokens.access_token}` };
}

test('An enrolment is confirmed by its first code and shown by the account', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const enrolled = await service.post(`${twoFactor}/totp`, {}, ada);
  t.is(enrolled.status, 201);
  const secret = textOf(answered(enrolled), 'secret');
  t.regex(secret, /^[A-Z2-7]{32}$/);
  const url = textOf(answered(enrolled), 'otpauth_url');
  t.true(url.startsWith('otpauth://totp/Stowage:ada%40example.com?') && url.includes(secret));
  t.like(answered(await service.get('/api/v1/auth/me', ada)), { two_factor_enabled: false });
  const { recoveryCodes } = await turnOn(t, service, ada);
  t.is(recoveryCodes.length, 10);
  t.like(answered(await service.get('/api/v1/auth/me', ada)), { two_factor_enabled: true });
  t.is((await service.post(`${twoFactor}/totp`, {}, ada)).status, 409);
  const written = (await logOf(service.stores)).map(({ data }) => JSON.stringify(data));
  t.notRegex([...service.logLines, ...written].join(''), new RegExp(`${secret}|${recoveryCodes[0] ?? ''}`));
});

test('A session that was never strengthened reaches only the routes that signing in needs', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const project = await service.makeProject(ada);
  const userId = await service.verify('ada');
  const platform = { aggregate: userAggregate, id: userId };
  const granted = (['operator', 'auditor'] as const).map(
    (role) => ({ type: 'PlatformRoleGranted', data: { role } }) as const,
  );
  await appendEvents(service.stores.handler, platform, granted, service.clock.now());
  const { code } = await turnOn(t, service, ada);
  const weak = await signInAgain(service, ada);
  const open = new Set(['GET /api/v1/auth/me', 'POST /api/v1/auth/2fa/verify', 'POST /api/v1/auth/logout']);
  let refused = 0;
  for (const { method, path: template, access } of service.routes) {
    // What the document leaves out is a session.
    const { security = [{ session: [] }] } = securityOf(access);
    if (!JSON.stringify(security).includes('"session"') || open.has(`${method} ${template}`)) continue;
    const path = template.replace(':paymentId', `standard-${'0'.repeat(64)}@0`).replaceAll(/:\w+/g, project);
    // The tests of access check this reply of every route against the document.
    const { status, text } = await sendRequest(new URL(`${service.origin}${path}`), {
      method,
      headers: weak,
    });
    t.is(status, 403, `${method} ${template}`);
    t.like(JSON.parse(text), { code: 'two_factor_required' }, `${method} ${template}`);
    refused += 1;
  }
  t.true(refused > 100, `${refused} routes`);
  t.is((await service.get('/api/v1/auth/me', weak)).status, 200);
  const passed = await service.post(`${twoFactor}/verify`, { code: code() }, weak);
  t.is(passed.status, 200, passed.text);
  t.is((await service.get('/api/v1/projects', weak)).status, 200, 'the strengthened session is the same one');
});

test('A session that has not passed TOTP signs out itself, and no other session', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  await turnOn(t, service, ada);
  const weak = await signInAgain(service, ada);
  const logout = (body: object) => service.post('/api/v1/auth/logout', body, weak);
  t.like((await logout({ all: true })).json, { code: 'two_factor_required' });
  t.is((await service.get('/api/v1/projects', ada)).status, 200);
  t.is((await logout({})).status, 204);
  t.is((await service.get('/api/v1/auth/me', weak)).status, 401);
  t.is((await service.post('/api/v1/auth/logout', { all: true }, ada)).status, 204);
});

test('A second factor is fresh for 15 minutes', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const project = await service.makeProject(ada);
  const { code } = await turnOn(t, service, ada);
  const weak = await signInAgain(service, ada);
  const passed = await service.post(`${twoFactor}/verify`, { code: code() }, weak);
  t.is(passed.headers.get('cache-control'), 'no-store');
  t.like(answered(passed)['tokens'], {
    token_type: 'Bearer',
    expires_in: 600,
    refresh_expires_in: 1_209_600,
  });
  const headers = { ...sessionOf(passed) };
  const bind = async () => {
    const answer = await service.post(`/api/v1/projects/${project}/storages`, {}, headers);
    return asObject(answer.json)['code'];
  };
  t.is(await bind(), 'invalid_request');
  // Access tokens live 10 minutes, so the test signs tokens of the same session with the age of the second factor.
  const renewed = { userId: '', sessionId: '', authenticatedAt: service.clock.now(), methods: [] };
  const verdict = await service.commands.accessTokens.verify(tokenOf(passed, 'access_token'));
  if (!verdict.valid) return t.fail();
  const { userId, sessionId } = verdict.claims;
  const renew = async () => {
    const { token } = await service.commands.accessTokens.sign({ ...renewed, userId, sessionId });
    headers.authorization = `Bearer ${token}`;
  };
  service.clock.advance(900_000);
  await renew();
  t.is(await bind(), 'invalid_request', 'the second factor is fresh until the last moment');
  service.clock.advance(1);
  t.is(await bind(), 'two_factor_required');
  t.is((await service.get('/api/v1/projects', headers)).status, 200, 'all other calls stay open');
  t.is((await service.post(`${twoFactor}/verify`, { code: code() }, headers)).status, 200);
  t.is(await bind(), 'invalid_request');
});

test('Wrong, used and malformed codes are refused, and too many of them throttle the client', async (t) => {
  const service = await startTestService(t, { rates: { two_factor: { limit: 100, seconds: 1 } } });
  const ada = await service.signUp('ada');
  const { code, recoveryCodes } = await turnOn(t, service, ada);
  const verify = (body: unknown) => service.post(`${twoFactor}/verify`, body, ada);
  const both = { code: code(), recovery_code: recoveryCodes[0] };
  for (const body of [{}, both, { code: 123456 }, { code: code(), more: 1 }, { recovery_code: null }]) {
    const answer = await verify(body);
    t.is(answer.status, 400, JSON.stringify(body));
    t.like(answer.json, { code: 'invalid_request' });
  }
  t.regex((await verify({})).text, /code is missing: give it, or recovery_code/);
  t.is((await verify({ recovery_code: recoveryCodes[0] })).status, 200);
  for (const body of [
    { code: otherThan(code()) },
    { recovery_code: recoveryCodes[0] },
    { code: '' },
    { recovery_code: 'x' },
    { code: `${code()}0` },
  ]) {
    const answer = await verify(body);
    t.is(answer.status, 401, JSON.stringify(body));
    t.like(answer.json, { code: 'invalid_credentials' });
  }
  // Recovery codes count nowhere.
  const wrong = otherThan(code());
  for (const typed of [wrong, wrong, '12', wrong, wrong]) t.is((await verify({ code: typed })).status, 401);
  const throttled = await verify({ code: code() });
  t.is(throttled.status, 429);
  t.like(throttled.json, { code: 'too_many_attempts' });
  t.is(throttled.headers.get('retry-after'), '1');
  service.clock.advance(1_000);
  t.is((await verify({ code: code() })).status, 200);
});

test('Attempts are limited per client address, including right ones', async (t) => {
  const service = await startTestService(t, { rates: { two_factor: { limit: 2, seconds: 60 } } });
  const ada = await service.signUp('ada');
  const { code } = await turnOn(t, service, ada);
  t.is((await service.post(`${twoFactor}/verify`, { code: code() }, ada)).status, 200);
  service.clock.advance(100);
  for (const path of ['verify', 'recovery-codes', 'totp/remove', 'totp/confirm']) {
    const answer = await service.post(`${twoFactor}/${path}`, { code: code() }, ada);
    t.is(answer.status, path === 'verify' ? 401 : 429, path);
  }
});

test('A code renews recovery codes and turns two-factor off', async (t) => {
  const service = await startTestService(t, { rates: { two_factor: { limit: 100, seconds: 1 } } });
  const ada = await service.signUp('ada');
  const { code, recoveryCodes } = await turnOn(t, service, ada);
  const post = (path: string, body: unknown) => service.post(`${twoFactor}/${path}`, body, ada);
  t.is(
    (await post('recovery-codes', { recovery_code: recoveryCodes[0] })).status,
    400,
    'only the app renews',
  );
  for (const path of ['recovery-codes', 'totp/remove']) {
    t.is((await post(path, { code: otherThan(code()) })).status, 401, path);
  }
  const renewed = await post('recovery-codes', { code: code() });
  t.is(renewed.status, 200);
  const [fresh] = answered(renewed)['recovery_codes'] as readonly string[];
  t.is((await post('verify', { recovery_code: recoveryCodes[0] })).status, 401);
  const removed = await post('totp/remove', { recovery_code: fresh });
  t.is(removed.status, 204);
  t.is(removed.text, '');
  t.like(answered(await service.get('/api/v1/auth/me', ada)), { two_factor_enabled: false });
  t.is((await post('totp/remove', { code: code() })).status, 409);
  t.is((await post('verify', { code: code() })).status, 409);
});
