/* The sentences of the contract on registration and sign-in codes: 1, 2.4, 4.4, 4.5, 5, 7 and 8. */
import test from 'ava';
import type { Json } from '../../../../src/http/document/openapi-texts.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { from, isError, startContract } from '../../../support/contract/scene.js';
import { names } from '../../../support/contract/sentences.js';
import { password } from '../../../support/servers/http-service.js';

const capacity = 1_073_741_824;

function dataOf({ json }: Answer): {
  readonly user: Json;
  readonly tokens: { readonly access_token: string };
} {
  return (json as { data: ReturnType<typeof dataOf> }).data;
}

/** Passwords that lack one of the required properties. */
const weak = ['Horse-7ab', 'correct-horse-7', 'CORRECT-HORSE-7', 'Correct-Horse-x', 'CorrectHorse77'];
const strong = ['Horse-7abc', 'Correct Horse 7', 'Xy7!Xy7!Xy'];

test(
  names(
    '4.4',
    'POST /api/v1/auth/register',
    'Registers an account by email.',
    'Public.',
    '201: wrapper (2.4) whose `data` carries the user and tokens.',
  ),
  async (t) => {
    const { register, get, post } = await startContract(t);
    const answer = await register('ben');
    t.is(answer.status, 201);
    t.like(answer.json, { code: 'ok', message: 'ok' });
    const { user, tokens } = dataOf(answer);
    t.is(user['email'], 'ben@example.com');
    const me = await get('/api/v1/auth/me', { authorization: `Bearer ${tokens.access_token}` });
    t.like(me.json, { data: { email: 'ben@example.com' } });
    const login = await post('/api/v1/auth/login', { email: 'ben@example.com', password });
    t.is(login.status, 200);
  },
);

test(names('1', 'Accounts: register with email and password.'), async (t) => {
  const { post } = await startContract(t);
  const email = 'ben@example.com';
  t.is((await post('/api/v1/auth/login', { email, password })).status, 401);
  t.is((await post('/api/v1/auth/register', { email, password })).status, 201);
  t.is((await post('/api/v1/auth/login', { email, password })).status, 200);
  t.is((await post('/api/v1/auth/login', { email, password: `${password}x` })).status, 401);
});

for (const [section, sentence] of [
  ['1', 'A default capacity is granted automatically at registration.'],
  ['4.4', 'A default capacity is granted after registration.'],
] as const) {
  test(names(section, sentence), async (t) => {
    const { register, get } = await startContract(t);
    const { user, tokens } = dataOf(await register('ben'));
    t.is(user['capacity_bytes'], capacity);
    const me = await get('/api/v1/auth/me', { authorization: `Bearer ${tokens.access_token}` });
    t.like(me.json, { data: { capacity_bytes: capacity, used_bytes: 0 } });
  });
}

test(
  names(
    '4.4',
    'Body: `email` string (email format), required; `password` string, required (at least 10 characters, containing upper-case and lower-case letters, digits and symbols); `nickname` string, optional.',
  ),
  async (t) => {
    const { post } = await startContract(t);
    const register = (body: Json) => post('/api/v1/auth/register', body);
    const email = 'ben@example.com';
    for (const other of [undefined, 7, null, 'ben', 'ben@', '@example.com'])
      isError(t, await register({ email: other, password }), 400);
    for (const other of [undefined, 7, null, ...weak])
      isError(t, await register({ email, password: other }), 400);
    isError(t, await register({ email, password, nickname: 7 }), 400);
    t.is((await register({ email, password })).status, 201);
    const named = await register({ email: 'cleo@example.com', password, nickname: 'Cleo' });
    t.is(dataOf(named).user['nickname'], 'Cleo');
  },
);

test(
  names('8', 'Password: at least 10 characters with upper-case and lower-case letters, digits and symbols.'),
  async (t) => {
    const { post } = await startContract(t);
    const register = async (email: string, tried: string) =>
      (await post('/api/v1/auth/register', { email, password: tried })).status;
    for (const tried of weak) t.is(await register('weak@example.com', tried), 400, tried);
    for (const [n, tried] of strong.entries()) t.is(await register(`s${n}@example.com`, tried), 201, tried);
  },
);

test(names('4.4', '400: error body, request parameters invalid.'), async (t) => {
  const { post, register } = await startContract(t);
  for (const body of [{}, [], 'text', 7]) isError(t, await post('/api/v1/auth/register', body), 400);
  isError(t, await register('ben', { password: 'short' }), 400);
  isError(t, await register('ben', { role: 'admin' }), 400);
});

test(names('4.4', '409: email already registered.'), async (t) => {
  const { register, post } = await startContract(t);
  isError(t, await register('ada'), 409);
  isError(t, await post('/api/v1/auth/register', { email: 'ADA@Example.com', password }), 409);
  t.like((await register('ada')).json, { code: 'email_taken' });
});

test(
  names(
    '4.5',
    'POST /api/v1/auth/email-code/send',
    'Sends a login verification code to an email address.',
    'Public.',
    '200: wrapper (2.4).',
  ),
  async (t) => {
    const { sendCode, mailedCode, post } = await startContract(t);
    const sent = await sendCode();
    t.is(sent.status, 200);
    t.like(sent.json, { code: 'ok', message: 'ok' });
    t.is(typeof (sent.json as Json)['data'], 'object');
    const code = await mailedCode();
    const path = '/api/v1/auth/email-code/login';
    t.is((await post(path, { email: 'ada@example.com', code })).status, 200);
  },
);

test(names('4.5', 'Body: `email` string (email format), required.'), async (t) => {
  const { sendCode, post } = await startContract(t);
  for (const email of [7, null, 'ada', 'ada@']) isError(t, await sendCode(email), 400);
  for (const body of [{}, []]) isError(t, await post('/api/v1/auth/email-code/send', body), 400);
  t.is((await sendCode('ada@example.com')).status, 200);
});

for (const [section, ...sentences] of [
  ['1', 'Email login code: send a verification code to an email address, rate limited per client IP.'],
  ['4.5', 'Limited per client IP.', '429: sent too frequently.'],
  ['8', 'Email-code send is limited per client IP; excess gives 429.'],
] as const) {
  test(names(section, ...sentences), async (t) => {
    const { sendCode } = await startContract(t);
    const [one, other] = [from('198.51.100.1'), from('198.51.100.2')];
    for (let n = 0; n < 5; n += 1) t.is((await sendCode(`n${n}@example.com`, one)).status, 200);
    const refused = await sendCode('more@example.com', one);
    isError(t, refused, 429);
    t.true(Number(refused.headers.get('retry-after')) > 0);
    t.is((await sendCode('more@example.com', other)).status, 200);
  });
}

test(names('4.5', '503: the mail service is not configured.'), async (t) => {
  const { sendCode } = await startContract(t, { mailConfigured: false });
  const refused = await sendCode();
  isError(t, refused, 503);
  t.like(refused.json, { code: 'mail_not_configured' });
});

test(
  names(
    '7',
    '400 | create storage, register | request parameters invalid',
    '409 | register | email already registered',
    '429 | email-code send | sent too frequently',
  ),
  async (t) => {
    const { bind, register, sendCode } = await startContract(t, {
      rates: { email_code: { limit: 1, seconds: 600 } },
    });
    isError(t, await bind({}), 400);
    isError(t, await register('ben', { password: 7 }), 400);
    isError(t, await register('ada'), 409);
    t.is((await sendCode()).status, 200);
    isError(t, await sendCode(), 429);
  },
);

test(names('7', '503 | email-code send | mail service not configured'), async (t) => {
  const { sendCode } = await startContract(t, { mailConfigured: false });
  isError(t, await sendCode(), 503);
});

test(names('2.4', 'Used by register, email-code send and share verify on success.'), async (t) => {
  const { register, sendCode, share, open } = await startContract(t);
  for (const answer of [await register('ben'), await sendCode(), await open(await share())]) {
    const { code, message, data, ...rest } = answer.json as Json;
    t.deepEqual([code, message, typeof data, rest], ['ok', 'ok', 'object', {}], answer.text);
  }
});
