import test from 'ava';
import { loginCodeAggregate } from '../../src/domain/login-code/login-code.js';
import { startTestService, type TestService } from '../support/http-service.js';

const send = (service: TestService, email: unknown = 'ada@example.com') =>
  service.post('/api/v1/auth/email-code/send', { email });
const login = (service: TestService, code: unknown, email = 'ada@example.com') =>
  service.post('/api/v1/auth/email-code/login', { email, code });

/** What would have been mailed. */
async function mailedCode({ commands, stores }: TestService): Promise<string> {
  await commands.background.settled();
  const emailDigest = stores.digests.email('ada@example.com');
  const { issue } = (await stores.handler.load(loginCodeAggregate, emailDigest)).state;
  if (issue === null) throw new Error('no code was issued');
  return commands.loginCodes.codeFor({ kid: issue.codeKeyId, issueId: issue.issueId, emailDigest });
}

test('a code is sent, and signs in once', async (t) => {
  const service = await startTestService(t);
  await service.signUp('ada');
  const sent = await send(service);
  t.is(sent.status, 200);
  t.deepEqual(sent.json, { code: 'ok', message: 'ok', data: { expires_in: 600, resend_after: 60 } });
  const code = await mailedCode(service);
  const answer = await login(service, code);
  t.is(answer.status, 200);
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.like(answer.json, {
    code: 'ok',
    data: { user: { email_verified: true }, tokens: { token_type: 'Bearer' } },
  });
  const { data } = answer.json as { data: { tokens: { access_token: string } } };
  const me = await service.get('/api/v1/auth/me', { authorization: `Bearer ${data.tokens.access_token}` });
  t.like(me.json, { data: { email_verified: true } });
  t.is((await login(service, code)).status, 401);
});

test('known and unknown addresses are answered alike, byte for byte', async (t) => {
  const service = await startTestService(t);
  await service.signUp('ada');
  const known = await send(service);
  const unknown = await send(service, 'nobody@example.com');
  t.is(unknown.text, known.text);
  t.is(unknown.status, known.status);
  t.deepEqual([...unknown.headers.keys()], [...known.headers.keys()]);
  const code = await mailedCode(service);
  const wrong = await login(service, code === '000000' ? '000001' : '000000');
  const stranger = await login(service, code, 'nobody@example.com');
  t.is(wrong.status, 401);
  t.like(wrong.json, { code: 'invalid_credentials' });
  t.is(stranger.text, wrong.text);
});

test('400 comes first, then 503 without mail, then 429', async (t) => {
  const without = await startTestService(t, {
    mailConfigured: false,
    rates: { email_code: { limit: 1, seconds: 600 } },
  });
  for (let request = 0; request < 3; request += 1) {
    t.is((await send(without, 'nobody')).status, 400);
    const refused = await send(without);
    t.is(refused.status, 503);
    t.like(refused.json, { code: 'mail_not_configured' });
    t.is(refused.headers.get('retry-after'), '60');
  }
  const limited = await startTestService(t, { rates: { email_code: { limit: 1, seconds: 600 } } });
  t.is((await send(limited)).status, 200);
  t.is((await send(limited, 7)).status, 400);
  const refused = await send(limited, 'nobody@example.com');
  t.is(refused.status, 429);
  t.like(refused.json, { code: 'rate_limited' });
  t.true(Number(refused.headers.get('retry-after')) > 0);
});

test('a client may ask for 5 codes in 10 minutes and 30 a day, whatever the addresses', async (t) => {
  const service = await startTestService(t);
  const ask = async (n: number) => (await send(service, `user-${n}@example.com`)).status;
  for (let n = 0; n < 5; n += 1) t.is(await ask(n), 200);
  t.is(await ask(5), 429);
  service.clock.advance(120_000);
  t.is(await ask(5), 200);
  const daily = await startTestService(t, { rates: { email_code: { limit: 1_000, seconds: 600 } } });
  for (let n = 0; n < 30; n += 1) t.is((await send(daily, `user-${n}@example.com`)).status, 200);
  const refused = await send(daily);
  t.is(refused.status, 429);
  t.true(Number(refused.headers.get('retry-after')) > 2_000);
});

test('a code is six digits', async (t) => {
  const service = await startTestService(t);
  for (const code of ['12345', '1234567', '12 456', 'abcdef', 123_456, '１２３４５６']) {
    const answer = await login(service, code);
    t.is(answer.status, 400);
    t.regex((answer.json as { message: string }).message, /^code: /);
  }
});
