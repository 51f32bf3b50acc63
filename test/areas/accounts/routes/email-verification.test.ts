import { randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import { makeApiKey } from '../../../../src/security/tokens/api-keys.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { otherThan, totpCode } from '../../../support/fakes/authenticator-app.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { answered, sessionOf } from '../../../support/clients/passkey-calls.js';
import { mailedCode } from '../../../support/given/mailed-codes.js';
import { codeOf as codeIn, tokenOf } from '../../../support/given/replies.js';
import { invitationId } from '../../../support/examples/project.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { digest } from '../../../support/examples/ids.js';
import { password, startTestService } from '../../../support/servers/http-service.js';
import { asObject, textOf } from '../../../support/clients/service-client.js';

const path = '/api/v1/auth/email/verify';
const me = '/api/v1/auth/me';

type Options = Parameters<typeof startTestService>[1];

async function start(t: ExecutionContext, options?: Options) {
  const service = await startTestService(t, options);
  const { commands, stores, post } = service;
  const userOf = async (name: string) => {
    const account = await commands.findAccount(stores.digests.email(`${name}@example.com`));
    if (account === null) throw new Error(`no account of ${name}`);
    return account;
  };
  return {
    ...service,
    userOf,
    /** Returns the code that is in the mail to prove the address. */
    codeOf: async (name: string): Promise<string> => {
      const { verification } = (await userOf(name)).user;
      if (verification === null) throw new Error('nothing was mailed');
      const { verification_id: issue_id, code_key_id: kid, email_digest } = verification;
      return commands.verificationCodes.codeFor({ kid, issue_id, email_digest });
    },
    /** Asks for a code that signs in, and signs in by it from the mailbox alone. */
    signInByCode: async (name: string) => {
      const email = `${name}@example.com`;
      t.is((await post('/api/v1/auth/email-code/send', { email })).status, 200);
      const code = await mailedCode(service, email);
      return post('/api/v1/auth/email-code/login', { email, code });
    },
    login: (name: string) => post('/api/v1/auth/login', { email: `${name}@example.com`, password }),
  };
}

test('A session proves the address by the code that the registration mailed, and the user loses nothing', async (t) => {
  // Given a user with a session, a second session and a second factor
  const service = await start(t);
  const { post, get, signUp, login, codeOf, clock } = service;
  const ada = await signUp('ada');
  const second = sessionOf(await login('ada'));
  const enrolled = await post('/api/v1/auth/2fa/totp', {}, ada);
  const secret = textOf(answered(enrolled), 'secret');
  t.like(answered(await get(me, ada)), { email_verified: false });
  // When the user types the mailed code
  const proved = await post(path, { code: await codeOf('ada') }, ada);
  // Then the address is proved, and sessions, password and the enrolment hold
  t.is(proved.status, 204, proved.text);
  t.like(answered(await get(me, ada)), { email_verified: true });
  t.is((await get(me, second)).status, 200);
  t.is((await login('ada')).status, 200);
  const code = totpCode(secret, clock.now(), 0);
  t.is((await post('/api/v1/auth/2fa/totp/confirm', { code }, ada)).status, 200);
  const types = (await service.stores.eventStore.readAll({ after: null, limit: 500 })).events.map(
    ({ type }) => type,
  );
  t.true(types.includes('EmailVerified'));
  t.false(types.includes('CredentialsVoided'));
  // and a later sign-in by a code voids nothing either
  t.is((await service.signInByCode('ada')).status, 200);
  t.is((await login('ada')).status, 200);
  // and a repetition is no failure
  t.is((await post(path, { code: 'wrong' }, ada)).status, 204);
});

test('A code that proves an address does not sign in, and a code that signs in proves nothing in a session', async (t) => {
  const service = await start(t);
  const { post, signUp, codeOf, signInByCode, stores, get } = service;
  const ada = await signUp('ada');
  const email = 'ada@example.com';
  const code = await codeOf('ada');
  t.is((await post('/api/v1/auth/email-code/send', { email })).status, 200);
  t.is((await post('/api/v1/auth/email-code/login', { email, code })).status, 401);
  t.is((await post(path, { code: await mailedCode(service) }, ada)).status, 401);
  t.like(answered(await get(me, ada)), { email_verified: false });
  stores.clock.advance(60_000);
  t.is((await signInByCode('ada')).status, 200);
});

test('Five wrong codes use up a code, another account’s code proves nothing, and the next code proves', async (t) => {
  const { post, signUp, codeOf, clock } = await start(t);
  const [ada, bob] = [await signUp('ada'), await signUp('bob')];
  const code = await codeOf('ada');
  t.is((await post(path, { code }, bob)).status, 401);
  for (const text of ['12345', 'abc', '', `${code}0`, '12 34-5', code.slice(1)])
    t.is((await post(path, { code: text }, ada)).status, 401, 'it cannot be a code, so it is no attempt');
  for (let n = 0; n < 5; n += 1) {
    t.deepEqual(codeIn(await post(path, { code: otherThan(code) }, ada)), [401, 'invalid_credentials']);
  }
  const used = await post(path, { code }, ada);
  t.deepEqual(codeIn(used), [429, 'too_many_attempts']);
  t.is(used.headers.get('retry-after'), '60');
  // When another code is mailed
  const soon = await post(`${path}/send`, {}, ada);
  t.deepEqual([soon.status, soon.headers.get('retry-after')], [429, '60']);
  clock.advance(59_999);
  t.is((await post(`${path}/send`, {}, ada)).status, 429);
  clock.advance(1);
  const sent = await post(`${path}/send`, {}, ada);
  t.deepEqual(sent.json, { code: 'ok', message: 'ok', data: { expires_in: 86_400, resend_after: 60 } });
  t.is((await post(path, { code }, ada)).status, 401);
  t.is(
    (await post(path, { code: ` ${(await codeOf('ada')).replace(/(?<=^...)/, ' \u2013 ')} ` }, ada)).status,
    204,
  );
  t.deepEqual(codeIn(await post(`${path}/send`, {}, ada)), [409, 'conflict']);
  t.is((await post(path, { code: '123456' })).status, 401);
});

test('Without mail a registration asks for no code, and a request for one is 503', async (t) => {
  const { post, signUp, userOf } = await start(t, { mailConfigured: false });
  const ada = await signUp('ada');
  t.is((await userOf('ada')).user.verification, null);
  t.is((await post(`${path}/send`, {}, ada)).status, 503);
  t.is((await post(path, { code: '123456' }, ada)).status, 401);
});

test('Accounts that are registered and erased again and again make the service mail one address ten times a day', async (t) => {
  const { signUp, ask, stores, clock } = await start(t);
  for (let n = 0; n < 14; n += 1) {
    const session = await signUp('stranger');
    const erased = await ask(me, { method: 'DELETE', headers: session });
    t.is(erased.status, 204, erased.text);
    clock.advance(1_000);
  }
  const { events } = await stores.eventStore.readAll({ after: null, limit: 500 });
  t.is(events.filter(({ type }) => type === 'EmailVerificationRequested').length, 10);
  t.is(events.filter(({ type }) => type === 'UserRegistered').length, 14);
});

/** Lets a stranger register the address of Victoria, make a project, and give access to it. */
async function startWithStranger(t: ExecutionContext) {
  const service = await start(t);
  const { signUp, post, makeProject, verify, userOf, stores } = service;
  const stranger = await signUp('victoria');
  await signUp('accomplice');
  const accomplice = await verify('accomplice');
  const projectId = await makeProject(stranger);
  const url = `/api/v1/projects/${projectId}`;
  const keyOf = { name: 'k', scopes: ['asset:read', 'storage:read'] };
  t.like((await post(`${url}/api-keys`, keyOf, stranger)).json, { code: 'email_not_verified' });
  const { userId } = await userOf('victoria');
  // A service without mail lets an account without a proved address issue keys, add members and invite.
  const { key: apiKey, digest: keyDigest, prefix, last_four } = makeApiKey(randomBytes);
  const issued: ProjectEvent = {
    type: 'ApiKeyIssued',
    data: {
      ...{
        key_id: 'bbbbbbbb-0000-7000-8000-000000000002',
        name: 'k',
        scopes: ['asset:read', 'storage:read'],
      },
      ...{ digest: keyDigest, prefix, last_four, issued_by: userId },
      expires_at: new Date(stores.clock.now().getTime() + 86_400_000).toISOString(),
    },
  };
  const open = 'bbbbbbbb-0000-7000-8000-000000000001';
  const invited = (id: string): ProjectEvent => ({
    type: 'MemberInvited',
    data: {
      invitation_id: id,
      email: sealedExample('other@example.com'),
      email_digest: digest,
      role: 'owner',
      invited_by: userId,
    },
  });
  await appendEvents(
    stores.handler,
    { aggregate: projectAggregate, id: projectId },
    [
      invited(invitationId),
      { type: 'MemberAdded', data: { user_id: accomplice, role: 'owner', invitation_id: invitationId } },
      invited(open),
      issued,
    ],
    stores.clock.now(),
  );
  const key = { 'x-api-key': apiKey };
  const login = { email: 'accomplice@example.com', password };
  const accompliceSession = sessionOf(await post('/api/v1/auth/login', login));
  return { ...service, stranger, accompliceSession, url, key, userId, projectId };
}

type Stranger = Awaited<ReturnType<typeof startWithStranger>>;

/** Asserts that nothing of the stranger's access is left, and that the project is Victoria's. */
async function checkEnded(t: ExecutionContext, service: Stranger, victoria: Record<string, string>) {
  const { get, stranger, accompliceSession, url, key, login } = service;
  t.is((await get(me, stranger)).status, 401, 'the session');
  t.is((await login('victoria')).status, 401, 'the password');
  t.is((await get(`${url}/storages`, key)).status, 401, 'the API key');
  t.is((await get(url, accompliceSession)).status, 404, 'the member');
  const project = asObject((await get(url, victoria)).json);
  t.is(project['role'], 'owner');
  const members = asObject((await get(`${url}/members`, victoria)).json)['items'];
  t.is(Array.isArray(members) ? members.length : 0, 1, 'members and invitations');
  t.deepEqual(asObject((await get(`${url}/api-keys`, victoria)).json)['items'], []);
}

test('The first sign-in by a code ends all that a stranger set up: password, sessions, API keys, members and invitations', async (t) => {
  const service = await startWithStranger(t);
  t.is((await service.get(`${service.url}/storages`, service.key)).status, 200);
  t.is((await service.get(service.url, service.accompliceSession)).status, 200);
  const signedIn = await service.signInByCode('victoria');
  t.is(signedIn.status, 200, signedIn.text);
  await checkEnded(t, service, sessionOf(signedIn));
});

test('An API key whose session ends while it is issued is revoked and never shown', async (t) => {
  // Given a request for an API key that has passed the gate
  const { signUp, makeProject, post, stores, commands, userOf, signInByCode, get } = await start(t);
  const stranger = await signUp('victoria');
  const projectId = await makeProject(stranger);
  const { userId } = await userOf('victoria');
  const { sid = '' } = JSON.parse(
    Buffer.from(stranger.authorization.split('.')[1] ?? '', 'base64url').toString(),
  ) as { sid?: string };
  // When the owner of the mailbox signs in before its append
  const victoria = sessionOf(await signInByCode('victoria'));
  const issue = commands.issueApiKey(
    {
      ...{ projectId, actorId: userId, session: { id: sid, epoch: 0 } },
      ...{ name: 'late', scopes: ['asset:read'] },
    },
    givenContext(6_000, stores.clock.now(), `user:${userId}`),
  );
  // Then the request fails, and the project has no key
  await t.throwsAsync(issue, { message: /session has ended/ });
  const { state } = await stores.handler.load(projectAggregate, projectId);
  t.deepEqual(state.status === 'existing' ? state.api_keys : null, []);
  // and a key of the new session holds
  const url = `/api/v1/projects/${projectId}`;
  const issued = await post(`${url}/api-keys`, { name: 'k', scopes: ['storage:read'] }, victoria);
  t.is(issued.status, 201, issued.text);
  t.is((await get(`${url}/storages`, { 'x-api-key': textOf(asObject(issued.json), 'key') })).status, 200);
});

test('The caller’s account shows its platform roles', async (t) => {
  const { signUp, grantRole, commands, get } = await start(t);
  const ada = await signUp('ada');
  t.deepEqual(answered(await get(me, ada))['platform_roles'], []);
  await grantRole('auditor', 'ada');
  t.deepEqual(answered(await get(me, ada))['platform_roles'], ['auditor']);
  t.deepEqual(commands.failures, []);
});

for (const [credential, signIn] of [
  ['password', ({ login }: Stranger) => login('victoria')],
  ['mailed code', ({ signInByCode }: Stranger) => signInByCode('victoria')],
] as const) {
  test(`A banned account loses sessions, API keys and invitations at once, and a right ${credential} is 403`, async (t) => {
    const service = await startWithStranger(t);
    const { commands, stranger, get, post, url, key, stores, accompliceSession, userId } = service;
    const operator = (n: number) => givenContext(6_000 + n, stores.clock.now(), 'operator');
    const refresh_token = tokenOf(await service.login('victoria'), 'refresh_token');
    t.deepEqual(await commands.banUser('victoria@example.com', operator(1)), { userId, changed: true });
    t.is((await get(me, stranger)).status, 401);
    t.is((await get(`${url}/storages`, key)).status, 401);
    t.is((await post('/api/v1/auth/refresh', { refresh_token })).status, 401);
    t.deepEqual(codeIn(await signIn(service)), [403, 'account_banned']);
    const wrong = { email: 'victoria@example.com', password: 'Wrong-Horse-77' };
    t.is((await post('/api/v1/auth/login', wrong)).status, 401, 'a wrong password says nothing');
    // The members of its projects stay, and no invitation is open
    t.is((await get(url, accompliceSession)).status, 200);
    const members = asObject((await get(`${url}/members`, accompliceSession)).json)['items'];
    t.is(Array.isArray(members) ? members.length : 0, 2);
    // A repetition changes nothing
    t.like(await commands.banUser(userId, operator(2)), { changed: false });
    // When the ban ends, then the account signs in again, and its key stays revoked
    t.like(await commands.unbanUser(userId, operator(3)), { changed: true });
    stores.clock.advance(60_000);
    t.is((await signIn(service)).status, 200);
    t.is((await get(me, stranger)).status, 401);
    t.is((await get(`${url}/storages`, key)).status, 401);
  });
}
