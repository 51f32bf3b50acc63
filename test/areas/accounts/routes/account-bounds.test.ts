import test, { type ExecutionContext } from 'ava';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { sessionAggregate } from '../../../../src/areas/accounts/domain/session/session.js';
import { sessionsMax } from '../../../../src/areas/accounts/commands/signing-in/sessions.js';
import type { JsonObject } from '../../../../src/event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { limitsFrom } from '../../../../src/security/rates/limits.js';
import { assetDescription } from '../../../support/examples/asset.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { storageRequest, textOf } from '../../../support/clients/service-client.js';
import { countingReads } from '../../../support/clients/counting-reads.js';
import { totpCode } from '../../../support/fakes/authenticator-app.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { answered, sessionOf } from '../../../support/clients/passkey-calls.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { codeOf, fieldOf } from '../../../support/given/replies.js';
import { password, startTestService, type TestService } from '../../../support/servers/http-service.js';

const idOf = (answer: Answer) => fieldOf(answer, 'id');
const credentials = { email: 'owner@example.com', password };
const uuid = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const plenty = { limit: 1_000_000, seconds: 60 };

async function start(
  t: ExecutionContext,
  limits: Parameters<typeof limitsFrom>[0] = {},
  wrap: (store: EventStore) => EventStore = (store) => store,
) {
  const { wrapDocuments, costOf } = countingReads();
  const rates = limitsFrom({ session: plenty, user: plenty, login: plenty, ...limits });
  const service = await startTestService(t, { rates, storeOptions: { wrapDocuments, wrap } });
  const owner = await service.signUp('owner');
  const signIn = async () => {
    const answer = await service.post('/api/v1/auth/login', credentials);
    t.is(answer.status, 200, answer.text);
    return sessionOf(answer);
  };
  const create = () => service.post('/api/v1/projects', { name: 'Film' }, owner);
  const account = await service.commands.findAccount(service.stores.digests.email(credentials.email));
  const userId = account?.userId ?? '';
  /** Adds projects, whose ids begin at a number. */
  const addProjects = async (count: number, from: number, ...events: readonly ProjectEvent[]) => {
    const { handler, clock } = service.stores;
    for (let n = from; n < from + count; n += 1)
      await appendEvents(handler, { aggregate: projectAggregate, id: uuid(n) }, events, clock.now());
  };
  /** Starts sessions without the checks of a sign-in. */
  const addSessions = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const input = { userId, epoch: 0, methods: ['pwd'], client: null, userAgent: null } as const;
      service.clock.advance(1_000);
      await service.commands.startSession(input, givenContext(20_000 + n, service.clock.now()));
    }
  };
  return { ...service, owner, userId, costOf, signIn, create, addProjects, addSessions };
}

const createdBy = (owner_id: string): ProjectEvent => ({
  type: 'ProjectCreated',
  data: { name: 'Film', owner_id },
});

test('GET auth/me, sign-in, upload-url and lists cost the same with 110 assets and 100 projects (F1)', async (t) => {
  const { post, get, owner, userId, costOf, stores, clock, makeProject, addProjects } = await start(t);
  const project = await makeProject(owner);
  const path = `/api/v1/projects/${project}`;
  const storage_id = idOf(await post(`${path}/storages`, storageRequest('Media'), owner));
  const facts = { name: 'a', object_key: 'a', media_type: 'a/b', size: 1, storage_id };
  const asset = idOf(await post(`${path}/assets`, facts, owner));
  const description = { ...assetDescription, project_id: project, storage_id };
  const addAssets = async (count: number, from: number) => {
    for (let n = from; n < from + count; n += 1) {
      const target = { aggregate: assetAggregate, id: uuid(n) };
      const added = { type: 'AssetAdded', data: description } as const;
      await appendEvents(stores.handler, target, [added], clock.now());
    }
  };
  const joined: ProjectEvent = {
    type: 'MemberAdded',
    data: { user_id: userId, role: 'viewer', invitation_id: null },
  };
  const costs = async () => ({
    me: await costOf(() => get('/api/v1/auth/me', owner)),
    upload: await costOf(() => post(`${path}/assets/${asset}/upload-url`, {}, owner)),
    projects: await costOf(() => get('/api/v1/projects?limit=5', owner)),
    signIn: (await costOf(() => post('/api/v1/auth/login', credentials))).calls,
  });
  await addAssets(10, 1_000);
  await addProjects(10, 2_000, createdBy(uuid(1)), joined);
  const before = await costs();
  t.true(before.projects.read <= 15, JSON.stringify(before));
  await addAssets(100, 3_000);
  await addProjects(90, 5_000, createdBy(uuid(1)), joined);
  t.deepEqual(await costs(), before);
});

test('A user owns at most 100 projects, and requests in flight pass the limit once', async (t) => {
  const { create, ask, owner, userId, costOf, get, addProjects } = await start(t);
  await addProjects(98, 1, createdBy(userId));
  const racing = await Promise.all(Array.from({ length: 4 }, create));
  t.true(racing.filter(({ status }) => status === 201).length >= 2);
  t.deepEqual(codeOf(await create()), [409, 'project_limit_reached']);
  // With all 100 projects, the sums read their ids and no more totals than there are.
  const { calls, read } = await costOf(() => get('/api/v1/auth/me', owner));
  t.is(calls, 2);
  t.true(read <= 250, `${read} documents and ids`);
  const above = racing.filter(({ status }) => status === 201).length - 2;
  for (let n = 1; n <= above + 1; n += 1)
    await ask(`/api/v1/projects/${uuid(n)}`, { method: 'DELETE', headers: owner });
  t.is((await create()).status, 201);
  t.deepEqual(codeOf(await create()), [409, 'project_limit_reached']);
});

test('All sessions of a user share one limit, beside the limit of each session (F10)', async (t) => {
  const { get, signIn, owner, signUp } = await start(t, {
    session: { limit: 4, seconds: 60 },
    user: { limit: 6, seconds: 60 },
  });
  const second = await signIn();
  const ask = (headers: typeof owner) => get('/api/v1/auth/sessions', headers);
  for (let n = 0; n < 4; n += 1) t.is((await ask(owner)).status, 200);
  t.deepEqual(codeOf(await ask(owner)), [429, 'rate_limited'], 'the session');
  for (let n = 0; n < 2; n += 1) t.is((await ask(second)).status, 200);
  const over = await ask(second);
  t.deepEqual(codeOf(over), [429, 'rate_limited'], 'the user');
  t.truthy(over.headers.get('retry-after'));
  t.deepEqual(codeOf(await ask(await signIn())), [429, 'rate_limited'], 'a new session of the user');
  t.is((await ask(await signUp('somebody'))).status, 200);
});

test('Sessions that have not passed TOTP use up no request of those that have', async (t) => {
  const limits = { session: { limit: 4, seconds: 60 }, user: { limit: 6, seconds: 60 } };
  const { get, post, signIn, owner, clock } = await start(t, limits);
  const secret = textOf(answered(await post('/api/v1/auth/2fa/totp', {}, owner)), 'secret');
  const code = totpCode(secret, clock.now());
  t.is((await post('/api/v1/auth/2fa/totp/confirm', { code }, owner)).status, 200);
  clock.advance(60_000);
  // When a thief of the password floods the service from two sessions
  const me = (headers: typeof owner) => get('/api/v1/auth/me', headers);
  const [one, other] = [await signIn(), await signIn()];
  for (const headers of [one, one, one, other, other, other]) t.is((await me(headers)).status, 200);
  t.deepEqual(codeOf(await me(other)), [429, 'rate_limited'], 'they share one limit');
  // Then the owner is served, and can end them
  t.is((await me(owner)).status, 200);
  t.is((await post('/api/v1/auth/logout', { all: true }, owner)).status, 204);
});

type Bearer = Readonly<Record<'authorization', string>>;

async function sessionsOf(get: TestService['get'], headers: Bearer) {
  return answered(await get('/api/v1/auth/sessions?limit=200', headers))['items'] as readonly JsonObject[];
}

test('A sign-in beyond 50 sessions ends the one that was used least recently', async (t) => {
  const { signIn, owner, get, clock, stores, addSessions } = await start(t);
  const ids = async (headers: typeof owner) =>
    (await sessionsOf(get, headers)).map((session) => textOf(session, 'id'));
  const [first = ''] = await ids(owner);
  await addSessions(sessionsMax - 1);
  t.is((await ids(owner)).length, sessionsMax);
  clock.advance(1_000);
  const newest = await signIn();
  t.deepEqual(codeOf(await get('/api/v1/auth/me', owner)), [401, 'invalid_token']);
  const left = await ids(newest);
  t.is(left.length, sessionsMax);
  t.false(left.includes(first));
  const { state } = await stores.handler.load(sessionAggregate, first);
  t.like(state, { status: 'revoked', reason: 'session_limit' });
  // Those that race leave no more than the limit either.
  const racing = await Promise.all(Array.from({ length: 6 }, signIn));
  const [one = newest] = racing;
  t.true((await ids(one)).length <= sessionsMax);
});

test('Sign-ins that have not passed TOTP end no session that has', async (t) => {
  // Given a session that turns TOTP on
  const { post, get, owner, clock, addSessions } = await start(t);
  const secret = textOf(answered(await post('/api/v1/auth/2fa/totp', {}, owner)), 'secret');
  const code = totpCode(secret, clock.now());
  t.is((await post('/api/v1/auth/2fa/totp/confirm', { code }, owner)).status, 200);
  // When a thief of the password signs in again and again
  await addSessions(sessionsMax + 1);
  // Then the session lives, and the oldest of the others have ended
  t.is((await sessionsOf(get, owner)).length, sessionsMax);
});

test('Sessions that a change of password has ended take no place of the kept one', async (t) => {
  // Given a user with 50 sessions, of which the oldest changes the password
  const { post, get, owner, clock, addSessions } = await start(t);
  await addSessions(sessionsMax - 1);
  const secret = { current_password: password, new_password: 'Better-Horse-8' };
  t.is((await post('/api/v1/auth/password', secret, owner)).status, 204);
  t.is((await sessionsOf(get, owner)).length, 1);
  // When the user signs in elsewhere
  clock.advance(1_000);
  const login = { email: 'owner@example.com', password: 'Better-Horse-8' };
  t.is((await post('/api/v1/auth/login', login)).status, 200);
  // Then both sessions live
  t.is((await sessionsOf(get, owner)).length, 2);
});

test('A sign-in is answered when the session beyond the limit cannot be ended, and the next one ends it', async (t) => {
  // Given a user with 50 sessions, and a store that refuses to end any
  let refuses = true;
  const { signIn, get, clock, commands, addSessions } = await start(t, {}, (store) => ({
    ...store,
    append: async (stream, expected, events) => {
      const ends = events.some(({ type }) => type === 'SessionRevoked');
      if (refuses && ends) throw new StoreUnavailable('the log is away');
      return store.append(stream, expected, events);
    },
  }));
  const count = async (headers: Bearer) => (await sessionsOf(get, headers)).length;
  await addSessions(sessionsMax - 1);
  // When the user signs in, then the reply has tokens, and the failure is reported
  clock.advance(1_000);
  t.is(await count(await signIn()), sessionsMax + 1);
  t.regex(String(commands.failures), /the log is away/);
  // When the store is back, then the next sign-in ends the surplus
  refuses = false;
  clock.advance(1_000);
  t.is(await count(await signIn()), sessionsMax);
});
