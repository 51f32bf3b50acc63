import test from 'ava';
import { Overloaded } from '../../../../src/kit/semaphore.js';
import { password, startTestService, type TestService } from '../../../support/servers/http-service.js';
import { mailedCode } from '../../../support/given/mailed-codes.js';
import { codeOf } from '../../../support/given/replies.js';

const login = (service: TestService, more: object = {}) =>
  service.post('/api/v1/auth/login', { email: 'ada@example.com', password, ...more });

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}
const tokensOf = ({ json }: { readonly json: unknown }) => (json as { data: { tokens: Tokens } }).data.tokens;
const bearer = ({ access_token: token }: Tokens) => ({ authorization: `Bearer ${token}` });
const refresh = (service: TestService, token: string) =>
  service.post('/api/v1/auth/refresh', { refresh_token: token });

test('A sign-in returns the wrapper with user and tokens, and must not be cached', async (t) => {
  const service = await startTestService(t);
  const headers = await service.signUp('ada');
  const answer = await login(service);
  t.is(answer.status, 200);
  t.is(answer.headers.get('cache-control'), 'no-store');
  const me = await service.get('/api/v1/auth/me', bearer(tokensOf(answer)));
  t.like(answer.json, {
    code: 'ok',
    message: 'ok',
    data: { tokens: { token_type: 'Bearer', expires_in: 600 } },
  });
  const { user } = (answer.json as { data: { user: object } }).data;
  t.deepEqual({ ...user, platform_roles: [] }, (me.json as { data: unknown }).data);
  t.is((await service.get('/api/v1/auth/me', headers)).status, 200, 'the first session goes on');
});

test('A wrong password and an unknown address get equal replies, byte for byte', async (t) => {
  const service = await startTestService(t);
  await service.signUp('ada');
  const wrong = await login(service, { password: 'Wrong-Horse-7' });
  const unknown = await login(service, { email: 'bob@example.com' });
  t.is(wrong.status, 401);
  t.like(wrong.json, { code: 'invalid_credentials' });
  t.is(unknown.status, wrong.status);
  t.is(unknown.text, wrong.text);
  const names = (answer: typeof wrong) => [...answer.headers.keys()].sort();
  t.deepEqual(names(unknown), names(wrong));
});

test('A malformed sign-in is refused with the name of the field', async (t) => {
  const service = await startTestService(t);
  for (const [body, message] of [
    [{ email: 'nobody' }, /^email /],
    [{ password: 7 }, /^password /],
    [{ password: 'x'.repeat(513) }, /^password /],
    [{ otp: '123456' }, /otp/],
  ] as const) {
    const answer = await login(service, body);
    t.is(answer.status, 400);
    t.regex((answer.json as { message: string }).message, message);
  }
});

test('A client may sign in 20 times a minute, with success or not', async (t) => {
  const service = await startTestService(t);
  await service.signUp('ada');
  for (let count = 0; count < 20; count += 1) {
    t.is((await login(service, { email: `user-${count}@example.com` })).status, 401);
  }
  const refused = await login(service);
  t.is(refused.status, 429);
  t.like(refused.json, { code: 'rate_limited' });
  t.is(refused.headers.get('retry-after'), '3');
  service.clock.advance(3_000);
  t.is((await login(service)).status, 200);
});

test('A sign-in is 503 with Retry-After while too many passwords are checked, and counts as no failure', async (t) => {
  let busy = false;
  const service = await startTestService(t, {
    passwords: {
      onHash: () => {
        if (busy) throw new Overloaded('too many passwords are being checked');
      },
    },
  });
  await service.signUp('ada');
  busy = true;
  for (let count = 0; count < 8; count += 1) {
    for (const email of ['ada@example.com', 'bob@example.com']) {
      const answer = await login(service, { email });
      t.is(answer.status, 503);
      t.like(answer.json, { code: 'overloaded' });
      t.is(answer.headers.get('retry-after'), '1');
    }
  }
  busy = false;
  t.is((await login(service)).status, 200);
});

test('A refresh token is exchanged once, gets the same reply until 10 s after its successor is used, and later ends only its session', async (t) => {
  const service = await startTestService(t);
  await service.signUp('ada');
  const [one, other] = [tokensOf(await login(service)), tokensOf(await login(service))];
  const answer = await refresh(service, one.refresh_token);
  t.is(answer.status, 200);
  t.is(answer.headers.get('cache-control'), 'no-store');
  const next = tokensOf(answer);
  t.is((await service.get('/api/v1/auth/me', bearer(next))).status, 200);
  service.clock.advance(60_000);
  t.is(tokensOf(await refresh(service, one.refresh_token)).refresh_token, next.refresh_token);
  const last = tokensOf(await refresh(service, next.refresh_token));
  service.clock.advance(10_001);
  t.deepEqual(codeOf(await refresh(service, one.refresh_token)), [401, 'refresh_token_reused']);
  t.like((await service.get('/api/v1/auth/me', bearer(last))).json, { code: 'invalid_token' });
  t.like((await refresh(service, last.refresh_token)).json, { code: 'invalid_token' });
  t.is((await service.get('/api/v1/auth/me', bearer(other))).status, 200);
  t.is((await refresh(service, other.refresh_token)).status, 200);
});

test('An unknown refresh token is 401, and a malformed one 400', async (t) => {
  const service = await startTestService(t);
  t.like((await refresh(service, 'r1.nothing')).json, { code: 'invalid_token' });
  t.is((await refresh(service, '')).status, 400);
  t.is((await service.post('/api/v1/auth/refresh', {})).status, 400);
});

test('A sign-out ends this session, or with `all` every session of the user', async (t) => {
  const service = await startTestService(t);
  const first = await service.signUp('ada');
  const bob = await service.signUp('bob');
  const [second, third] = [tokensOf(await login(service)), tokensOf(await login(service))];
  const me = async (headers: Record<string, string>) =>
    (await service.get('/api/v1/auth/me', headers)).status;
  const logout = (headers: Record<string, string>, body?: object) =>
    service.ask('/api/v1/auth/logout', {
      method: 'POST',
      headers,
      ...(body === undefined ? {} : { json: body }),
    });

  t.is((await logout(bearer(second))).status, 204, 'without a body');
  t.is(await me(bearer(second)), 401);
  t.like((await refresh(service, second.refresh_token)).json, { code: 'invalid_token' });
  t.is((await logout(bearer(second))).status, 401);
  t.is(await me(first), 200);

  t.is((await logout(bearer(third), { all: true })).status, 204);
  for (const headers of [first, bearer(third)]) t.is(await me(headers), 401);
  t.like((await refresh(service, third.refresh_token)).json, { code: 'invalid_token' });
  t.is(await me(bob), 200, 'sessions of other users stay');
  t.is((await login(service)).status, 200, 'a new sign-in works');
  t.is((await logout(bob, { all: 'yes' })).status, 400);
});

const sendCode = (service: TestService, email: unknown = 'ada@example.com') =>
  service.post('/api/v1/auth/email-code/send', { email });
const loginByCode = (service: TestService, code: unknown, email = 'ada@example.com') =>
  service.post('/api/v1/auth/email-code/login', { email, code });

test('A code is sent and signs in once', async (t) => {
  const service = await startTestService(t);
  await service.signUp('ada');
  const sent = await sendCode(service);
  t.is(sent.status, 200);
  t.deepEqual(sent.json, { code: 'ok', message: 'ok', data: { expires_in: 600, resend_after: 60 } });
  const code = await mailedCode(service);
  const answer = await loginByCode(service, code);
  t.is(answer.status, 200);
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.like(answer.json, {
    code: 'ok',
    data: { user: { email_verified: true }, tokens: { token_type: 'Bearer' } },
  });
  const me = await service.get('/api/v1/auth/me', bearer(tokensOf(answer)));
  t.like(me.json, { data: { email_verified: true } });
  t.is((await loginByCode(service, code)).status, 401);
});

test('Known and unknown addresses get equal replies, byte for byte', async (t) => {
  const service = await startTestService(t);
  await service.signUp('ada');
  const known = await sendCode(service);
  const unknown = await sendCode(service, 'nobody@example.com');
  t.is(unknown.text, known.text);
  t.is(unknown.status, known.status);
  t.deepEqual([...unknown.headers.keys()], [...known.headers.keys()]);
  const code = await mailedCode(service);
  const wrong = await loginByCode(service, code === '000000' ? '000001' : '000000');
  const stranger = await loginByCode(service, code, 'nobody@example.com');
  t.is(wrong.status, 401);
  t.like(wrong.json, { code: 'invalid_credentials' });
  t.is(stranger.text, wrong.text);
});

test('The reply is 400 first, then 503 without mail, then 429', async (t) => {
  const without = await startTestService(t, {
    mailConfigured: false,
    rates: { email_code: { limit: 1, seconds: 600 } },
  });
  for (let request = 0; request < 3; request += 1) {
    t.is((await sendCode(without, 'nobody')).status, 400);
    const refused = await sendCode(without);
    t.is(refused.status, 503);
    t.like(refused.json, { code: 'mail_not_configured' });
    t.is(refused.headers.get('retry-after'), '60');
  }
  const limited = await startTestService(t, { rates: { email_code: { limit: 1, seconds: 600 } } });
  t.is((await sendCode(limited)).status, 200);
  t.is((await sendCode(limited, 7)).status, 400);
  const refused = await sendCode(limited, 'nobody@example.com');
  t.is(refused.status, 429);
  t.like(refused.json, { code: 'rate_limited' });
  t.true(Number(refused.headers.get('retry-after')) > 0);
});

test('A client may request 5 codes in 10 minutes and 30 a day, for all addresses together', async (t) => {
  const service = await startTestService(t);
  const ask = async (n: number) => (await sendCode(service, `user-${n}@example.com`)).status;
  for (let n = 0; n < 5; n += 1) t.is(await ask(n), 200);
  t.is(await ask(5), 429);
  service.clock.advance(120_000);
  t.is(await ask(5), 200);
  const daily = await startTestService(t, { rates: { email_code: { limit: 1_000, seconds: 600 } } });
  for (let n = 0; n < 30; n += 1) t.is((await sendCode(daily, `user-${n}@example.com`)).status, 200);
  const refused = await sendCode(daily);
  t.is(refused.status, 429);
  t.true(Number(refused.headers.get('retry-after')) > 2_000);
});
