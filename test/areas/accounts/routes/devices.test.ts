import test, { type ExecutionContext } from 'ava';
import {
  answered,
  loginByPasskey,
  registerPasskey,
  sessionOf,
} from '../../../support/clients/passkey-calls.js';
import { totpCode } from '../../../support/fakes/authenticator-app.js';
import { makeSoftwareAuthenticator } from '../../../support/fakes/software-authenticator.js';
import { mailedCode } from '../../../support/given/mailed-codes.js';
import { loginCodeAggregate } from '../../../../src/areas/accounts/domain/login-code/login-code.js';
import { password, startTestService } from '../../../support/servers/http-service.js';
import { codeOf } from '../../../support/given/replies.js';

const auth = '/api/v1/auth';
const email = 'ada@example.com';
const ofDevice = /^d1(\.[0-9a-f-]{36}){2}\.r1\.[A-Za-z0-9_-]{43}$/;

/** Given Ada's account with a proved address, and a service in which each limit per client is two attempts. */
async function given(t: ExecutionContext, limit = 2) {
  const two = { limit, seconds: 3_600 };
  const rates = { login: two, email_code: two, email_code_day: two, two_factor: two };
  const service = await startTestService(t, { trustedProxies: ['127.0.0.1'], rates });
  const registered = await service.post(`${auth}/register`, { email, password });
  await service.verify('ada');
  const token = answered(registered)['device_token'] as string;
  /** Calls as a client of a network. */
  const from = (ip: string, path: string, body: object, headers = {}) =>
    service.post(`${auth}/${path}`, body, { 'x-forwarded-for': ip, ...headers });
  return {
    ...service,
    token,
    from,
    mailed: () => mailedCode(service, email),
    session: sessionOf(registered),
  };
}

test('Each complete sign-in answers with a token of the device, which keeps its id when it comes back', async (t) => {
  const service = await given(t, 100);
  const { post, token, session } = service;
  t.regex(token, ofDevice);
  const login = (device_token?: string) => post(`${auth}/login`, { email, password, device_token });
  t.is(answered(await login(token))['device_token'], token);
  const other = answered(await login())['device_token'] as string;
  t.regex(other, ofDevice);
  t.not(other, token);
  // A text that is no token is like none.
  t.is((await login('nonsense')).status, 200);
  // With TOTP on, the second factor completes the sign-in: until then there is no token.
  const { secret } = await service.passTwoFactor(session);
  const first = await login();
  t.is(answered(first)['device_token'], null);
  service.clock.advance(60_000);
  const verified = await post(
    `${auth}/2fa/verify`,
    { code: totpCode(secret, service.clock.now()) },
    sessionOf(first),
  );
  t.regex(answered(verified)['device_token'] as string, ofDevice);
});

test('With a passkey alone, a sign-in by it completes, and one by password does not', async (t) => {
  const service = await given(t, 100);
  const authenticator = makeSoftwareAuthenticator();
  t.is((await registerPasskey(service, authenticator, service.session)).status, 201);
  t.is(answered(await service.post(`${auth}/login`, { email, password }))['device_token'], null);
  t.regex(answered(await loginByPasskey(service, authenticator))['device_token'] as string, ofDevice);
});

test('A neighbour who uses up every limit of a network stops no known device there, by password and by code', async (t) => {
  const { from, token, mailed, session, post } = await given(t);
  const network = '198.51.100.7';
  const bob = await post(`${auth}/register`, { email: 'bob@example.com', password });
  // When a neighbour uses up the limits, also with the device of another account
  for (const device_token of [undefined, undefined, answered(bob)['device_token'], `${token}x`]) {
    await from(network, 'login', { email, password: 'Wrong-Horse-7', device_token });
    await from(network, 'email-code/send', { email, device_token });
  }
  t.deepEqual(codeOf(await from(network, 'login', { email, password })), [429, 'rate_limited']);
  t.is((await from(network, 'email-code/send', { email })).status, 429);
  // Then the owner signs in by both ways
  t.is((await from(network, 'login', { email, password, device_token: token })).status, 200);
  t.is((await from(network, 'email-code/send', { email, device_token: token })).status, 200);
  const code = await mailed();
  t.is((await from(network, 'email-code/login', { email, code, device_token: token })).status, 200);
  // And at most as often as anyone, on this network
  t.is((await from(network, 'login', { email, password, device_token: token })).status, 429);
  const elsewhere = '198.51.100.8';
  t.is((await from(elsewhere, 'login', { email, password, device_token: token })).status, 200);
  // And a live session counts as its device
  for (let tried = 0; tried < 3; tried += 1)
    await from('203.0.113.9', 'login', { email, password: 'Wrong-Horse-7' });
  t.is((await from('203.0.113.9', 'reauthenticate', { password }, session)).status, 204);
  const change = { current_password: password, new_password: 'Another-Horse-8' };
  t.is((await from('203.0.113.9', 'password', change, session)).status, 204);
});

test('While strangers have used up the day, a known device and a live session sign in, and others wait', async (t) => {
  const { from, token, session } = await given(t, 1_000);
  for (let index = 0; index < 60; index += 1) {
    await from(`198.51.100.${index}`, 'login', { email, password: 'Wrong-Horse-7' });
  }
  const refused = await from('203.0.113.1', 'login', { email, password });
  t.like(refused.json, { code: 'too_many_attempts' });
  t.true(Number(refused.headers.get('retry-after')) > 80_000);
  t.is((await from('198.51.100.1', 'login', { email, password, device_token: token })).status, 200);
  t.is((await from('198.51.100.1', 'reauthenticate', { password }, session)).status, 204);
});

test('A code of 100 bits signs in and reauthenticates, and other texts are malformed', async (t) => {
  const { from, commands, stores, session, clock } = await given(t, 1_000);
  await from('198.51.100.1', 'email-code/login', { email, code: '000000' });
  const next = async () => {
    clock.advance(60_000);
    await from('198.51.100.1', 'email-code/send', { email });
    const email_digest = stores.digests.email(email);
    const { strong } = (await stores.handler.load(loginCodeAggregate, email_digest)).state;
    const { code_key_id: kid = '', issue_id = '' } = strong.at(-1) ?? {};
    return commands.strongLoginCodes.codeFor({ kid, issue_id, email_digest });
  };
  t.is((await from('203.0.113.1', 'email-code/login', { email, code: await next() })).status, 200);
  t.is((await from('203.0.113.1', 'reauthenticate', { code: await next() }, session)).status, 204);
  for (const code of ['12345', '1234567', '7QK2M-9XW4T-0B3HC', 'abc', '']) {
    t.is((await from('203.0.113.1', 'email-code/login', { email, code })).status, 400, code);
  }
});

test('A second factor that is passed again after a change of password leaves the device known', async (t) => {
  // Given a session with TOTP that has changed the password, so that it alone is kept
  const { from, post, clock, session, token, passTwoFactor } = await given(t, 1_000);
  const { secret } = await passTwoFactor(session);
  clock.advance(60_000);
  const code = () => totpCode(secret, clock.now());
  const first = await post(`${auth}/2fa/verify`, { code: code() }, session);
  const kept = sessionOf(first);
  const change = { current_password: password, new_password: 'Better-Horse-8' };
  t.is((await post(`${auth}/password`, change, kept)).status, 204);
  // When it passes the factor again
  clock.advance(60_000);
  const again = await post(`${auth}/2fa/verify`, { code: code() }, kept);
  t.is(answered(again)['device_token'], token);
  // Then no attack on the account stops a sign-in from the device
  for (let index = 0; index < 60; index += 1)
    await from(`198.51.100.${index}`, 'login', { email, password: 'Wrong-Horse-7' });
  const known = { email, password: 'Better-Horse-8', device_token: token };
  t.is((await from('198.51.100.1', 'login', known)).status, 200);
});
