import test from 'ava';
import { changeCodeOf } from '../../../support/given/mailed-codes.js';
import { otherThan } from '../../../support/fakes/authenticator-app.js';
import { answered } from '../../../support/clients/passkey-calls.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { password, startTestService, type TestService } from '../../../support/servers/http-service.js';
import { asObject } from '../../../support/clients/service-client.js';
import { codeOf } from '../../../support/given/replies.js';

const me = '/api/v1/auth/me';
const email = '/api/v1/auth/email';
const headersOf = { 'content-type': 'application/json' };

type Session = Readonly<Record<'authorization', string>>;

function patch(
  { ask }: TestService,
  session: Session,
  json: unknown,
  more: Readonly<Record<string, string>> = {},
) {
  return ask(me, { method: 'PATCH', json, headers: { ...headersOf, ...session, ...more } });
}

/** Returns the code that was mailed to the new address of an account. @param address the account's current address */
async function mailedCode(service: TestService, address: string): Promise<string> {
  const account = await service.commands.findAccount(service.stores.digests.email(address));
  return changeCodeOf(service, account?.userId ?? '');
}

test('A nickname changes only if the tag of the read is current', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const read = await service.get(me, ada);
  const tag = read.headers.get('etag') ?? '';
  const changed = await patch(service, ada, { nickname: ' Countess ' }, { 'if-match': tag });
  t.is(changed.status, 200, changed.text);
  t.like(answered(changed), { nickname: 'Countess', email: 'ada@example.com' });
  const again = await service.get(me, ada);
  t.deepEqual(again.json, changed.json);
  t.is(again.headers.get('etag'), changed.headers.get('etag'));
  t.is((await patch(service, ada, { nickname: 'Lady' }, { 'if-match': tag })).status, 412);
  t.deepEqual((await patch(service, ada, {})).json, changed.json, 'absent fields stay');
  t.deepEqual((await patch(service, ada, { nickname: null })).json, changed.json, 'null is absent');
  const head = await service.stores.eventStore.head();
  t.deepEqual((await patch(service, ada, { nickname: 'Countess' })).json, changed.json);
  t.is(await service.stores.eventStore.head(), head, 'the same nickname appends nothing');
  const bell = { nickname: 'a\u0007' };
  for (const body of [{ nickname: '' }, bell, { nickname: 'x'.repeat(51) }, { email: 'x@example.com' }]) {
    const refused = await patch(service, ada, body);
    t.is(refused.status, 400, JSON.stringify(body));
  }
  t.is((await service.ask(me, { method: 'PATCH', json: {} })).status, 401);
});

test('An address changes by the code that was mailed to it', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  await service.signUp('bob');
  const asked = await service.post(email, { email: 'Countess@Example.net' }, ada);
  t.is(asked.status, 200, asked.text);
  t.deepEqual(asked.json, { code: 'ok', message: 'ok', data: { expires_in: 600, resend_after: 60 } });
  t.like(answered(await service.get(me, ada)), { email: 'ada@example.com', email_verified: false });
  const code = await mailedCode(service, 'ada@example.com');
  for (const wrong of [otherThan(code), '', `${code}0`, 'abcdef']) {
    const refused = await service.post(`${email}/confirm`, { code: wrong }, ada);
    t.is(refused.status, 401, JSON.stringify(wrong));
    t.like(refused.json, { code: 'invalid_credentials' });
  }
  const confirmed = await service.post(`${email}/confirm`, { code }, ada);
  t.is(confirmed.status, 204, confirmed.text);
  t.is(confirmed.text, '');
  t.like(answered(await service.get(me, ada)), { email: 'Countess@Example.net', email_verified: true });
  t.like((await service.post(`${email}/confirm`, { code }, ada)).json, { code: 'invalid_credentials' });
  t.notRegex(service.logLines.join(''), new RegExp(`ountess|${code}`));
});

test("A malformed address is 400, a taken one or the caller's 409, and one too soon 429", async (t) => {
  const service = await startTestService(t);
  const [ada] = [await service.signUp('ada'), await service.signUp('bob')];
  const ask = async (body: unknown) => {
    const answer = await service.post(email, body, ada);
    return [answer.status, asObject(answer.json)['code'], answer.headers.get('retry-after')];
  };
  const head = await service.stores.eventStore.head();
  t.deepEqual(await ask({ email: 'nobody' }), [400, 'invalid_request', null]);
  t.deepEqual(await ask({}), [400, 'invalid_request', null]);
  t.deepEqual(await ask({ email: 'BOB@example.com' }), [409, 'email_taken', null]);
  t.deepEqual(await ask({ email: 'ADA@example.com' }), [409, 'email_taken', null]);
  t.is(await service.stores.eventStore.head(), head, 'nothing is written');
  t.deepEqual(await ask({ email: 'ada@example.net' }), [200, 'ok', null]);
  t.deepEqual(await ask({ email: 'ada@example.org' }), [429, 'too_many_attempts', '60']);
  // A caller does not learn meanwhile whether an address is taken.
  t.deepEqual(await ask({ email: 'bob@example.com' }), [429, 'too_many_attempts', '60']);
  t.is((await service.post(email, { email: 'ada@example.org' })).status, 401);
});

test('Five wrong codes use up a change', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  await service.post(email, { email: 'ada@example.net' }, ada);
  const code = await mailedCode(service, 'ada@example.com');
  const confirm = async (typed: string) => {
    const answer = await service.post(`${email}/confirm`, { code: typed }, ada);
    return [answer.status, asObject(answer.json)['code']];
  };
  for (let n = 0; n < 5; n += 1) t.deepEqual(await confirm(otherThan(code)), [401, 'invalid_credentials']);
  t.deepEqual(await confirm(code), [429, 'too_many_attempts']);
  service.clock.advance(60_000);
  await service.post(email, { email: 'ada@example.net' }, ada);
  const next = await mailedCode(service, 'ada@example.com');
  t.is((await service.post(`${email}/confirm`, { code: next }, ada)).status, 204);
});

test('Without mail no code can be sent: 503, after 400 and before 409', async (t) => {
  const service = await startTestService(t, { mailConfigured: false });
  const ada = await service.signUp('ada');
  t.is((await service.post(email, { email: 'nobody' }, ada)).status, 400);
  const refused = await service.post(email, { email: 'ada@example.com' }, ada);
  t.deepEqual(codeOf(refused), [503, 'mail_not_configured']);
});

test('Codes to new addresses and refusals of taken ones are limited per client address', async (t) => {
  const service = await startTestService(t, { rates: { email_change: { limit: 2, seconds: 600 } } });
  const [ada, bob] = [await service.signUp('ada'), await service.signUp('bob')];
  t.is((await service.post(email, { email: 'nobody' }, ada)).status, 400);
  t.is((await service.post(email, { email: 'bob@example.com' }, ada)).status, 409);
  t.is((await service.post(email, { email: 'ada@example.net' }, ada)).status, 200);
  t.deepEqual(codeOf(await service.post(email, { email: 'bob@example.net' }, bob)), [429, 'rate_limited']);
});

test('A deleted account admits no session and no sign-in', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const own = await service.makeProject(ada);
  const deleted = await service.ask(me, { method: 'DELETE', headers: ada });
  t.is(deleted.status, 204, deleted.text);
  t.is(deleted.text, '');
  for (const [method, path] of [
    ['GET', me],
    ['DELETE', me],
    ['GET', `/api/v1/projects/${own}`],
  ] as const) {
    const refused = await service.ask(path, { method, headers: ada });
    t.is(refused.status, 401, `${method} ${path}`);
    t.like(refused.json, { code: 'invalid_token' });
  }
  const login = { email: 'ada@example.com', password };
  t.is((await service.post('/api/v1/auth/login', login)).status, 401);
  const again = await service.signUp('ada');
  t.deepEqual((await service.get('/api/v1/projects', again)).json, { items: [], next_cursor: null });
});

test('The only owner of a project with other members cannot be deleted: 409', async (t) => {
  const service = await startTestService(t);
  const [ada, bob] = [await service.signUp('ada'), await service.signUp('bob')];
  const project = await service.makeProject(ada);
  const { commands, stores } = service;
  await commands.verifyEmail({ email: 'bob@example.com' }, givenContext(7_000, stores.clock.now()));
  await service.verify('ada');
  const member = { email: 'bob@example.com', role: 'viewer' };
  t.is((await service.post(`/api/v1/projects/${project}/members`, member, ada)).status, 201);
  t.deepEqual(codeOf(await service.ask(me, { method: 'DELETE', headers: ada })), [409, 'conflict']);
  t.is((await service.get(me, ada)).status, 200);
  t.is((await service.ask(me, { method: 'DELETE', headers: bob })).status, 204);
  t.is((await service.ask(me, { method: 'DELETE', headers: ada })).status, 204);
});
