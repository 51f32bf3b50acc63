import test, { type ExecutionContext } from 'ava';
import type { Answer } from '../../../support/clients/http-app.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { memberAdded, memberId, memberInvited } from '../../../support/examples/project.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { codeOf } from '../../../support/given/replies.js';
import { startTestService, type TestService } from '../../../support/servers/http-service.js';

type Headers = Awaited<ReturnType<TestService['signUp']>>;
interface Member {
  readonly id: string;
  readonly email: string | null;
  readonly nickname: string | null;
  readonly role: string;
  readonly status: string;
  readonly joined_at: string | null;
  readonly invited_at: string | null;
}

interface Team extends TestService {
  readonly project: string;
  readonly path: string;
  readonly owner: Headers;
  readonly add: (name: string, role: string, by?: Headers) => Promise<Answer>;
  /** Registers, verifies and adds a user. */
  readonly join: (name: string, role: string) => Promise<{ readonly id: string; readonly headers: Headers }>;
  readonly patch: (path: string, json: unknown, headers: Headers) => Promise<Answer>;
  readonly remove: (path: string, headers: Headers) => Promise<Answer>;
  readonly list: (headers: Headers) => Promise<readonly Member[]>;
}

async function startTeam(
  t: ExecutionContext,
  overrides: Parameters<typeof startTestService>[1] = {},
): Promise<Team> {
  const service = await startTestService(t, overrides);
  const owner = await service.signUp('owner');
  await service.verify('owner');
  const project = await service.makeProject(owner);
  const path = `/api/v1/projects/${project}/members`;
  const add: Team['add'] = (name, role, by = owner) =>
    service.post(path, { email: `${name}@example.com`, role }, by);
  return {
    ...service,
    owner,
    project,
    path,
    add,
    join: async (name, role) => {
      const headers = await service.signUp(name);
      const id = await service.verify(name);
      const added = await add(name, role);
      t.is(added.status, 201, added.text);
      return { id, headers };
    },
    patch: (target, json, headers) => service.ask(target, { method: 'PATCH', json, headers }),
    remove: (target, headers) => service.ask(target, { method: 'DELETE', headers }),
    list: async (headers) => {
      const answer = await service.get(path, headers);
      t.is(answer.status, 200, answer.text);
      return (answer.json as { items: readonly Member[] }).items;
    },
  };
}

test('A user with a verified address becomes a member at once', async (t) => {
  const { signUp, verify, add, list, owner, get, project, clock } = await startTeam(t);
  const bob = await signUp('bob');
  const bobId = await verify('bob');
  const added = await add('BOB', 'editor');
  t.is(added.status, 201);
  t.deepEqual(added.json, {
    id: bobId,
    email: 'bob@example.com',
    nickname: 'bob',
    role: 'editor',
    status: 'active',
    joined_at: clock.now().toISOString(),
    invited_at: null,
    offer: null,
  });
  t.like((await get(`/api/v1/projects/${project}`, bob)).json, { role: 'editor' });
  t.deepEqual(
    (await list(owner)).find(({ id }) => id === bobId),
    added.json as Member,
  );
  t.deepEqual(codeOf(await add('bob', 'editor')), [409, 'conflict']);
  t.deepEqual(codeOf(await add('bob', 'viewer')), [409, 'conflict']);
});

test('An unverified address is invited and is no member yet', async (t) => {
  const { signUp, add, owner, list, get, patch, path, project, remove, clock } = await startTeam(t);
  const bob = await signUp('bob');
  const invited = await add('bob', 'viewer');
  t.is(invited.status, 201);
  const { id } = invited.json as Member;
  t.deepEqual(invited.json, {
    id,
    email: 'bob@example.com',
    nickname: null,
    role: 'viewer',
    status: 'invited',
    joined_at: null,
    invited_at: clock.now().toISOString(),
    offer: null,
  });
  t.is((await get(`/api/v1/projects/${project}`, bob)).status, 404);
  t.deepEqual(codeOf(await add('Bob', 'editor')), [409, 'conflict']);
  t.like((await patch(`${path}/${id}`, { role: 'editor' }, owner)).json, { id, role: 'editor' });
  t.like(
    (await list(owner)).find((member) => member.id === id),
    { role: 'editor', status: 'invited' },
  );
  t.is((await remove(`${path}/${id}`, owner)).status, 204);
  t.is((await remove(`${path}/${id}`, owner)).status, 404);
  t.is((await list(owner)).length, 1);
});

test('Without mail only users with a verified address can be added', async (t) => {
  const { signUp, verify, add, join, list, owner } = await startTeam(t, { mailConfigured: false });
  const refused = await add('bob', 'viewer');
  t.deepEqual(codeOf(refused), [503, 'mail_not_configured']);
  t.is(refused.headers.get('retry-after'), '60');
  await signUp('bob');
  t.deepEqual(codeOf(await add('bob', 'viewer')), [503, 'mail_not_configured']);
  await verify('bob');
  t.is((await add('bob', 'viewer')).status, 201);
  t.is((await list(owner)).length, 2);
  // The refusal of the role comes first
  const admin = await join('admin', 'admin');
  t.deepEqual(codeOf(await add('eve', 'owner', admin.headers)), [403, 'insufficient_role']);
});

test('Every member sees the nicknames of the others, and only admins and owners see addresses', async (t) => {
  const { join, add, list, owner, signUpAs, get, path, signUp } = await startTeam(t);
  await add('invited', 'viewer');
  const joined = {
    admin: await join('admin', 'admin'),
    editor: await join('editor', 'editor'),
    viewer: await join('viewer', 'viewer'),
  };
  for (const headers of [owner, joined.admin.headers]) {
    const emails = (await list(headers)).map(({ email }) => email);
    const names = ['admin', 'editor', 'invited', 'owner', 'viewer'];
    t.deepEqual(
      emails.sort(),
      names.map((name) => `${name}@example.com`),
    );
  }
  const auditor = await signUpAs('auditor');
  for (const headers of [joined.editor.headers, joined.viewer.headers, auditor]) {
    const answer = await get(path, headers);
    t.notRegex(answer.text, /example\.com/);
    const { items } = answer.json as { items: readonly Member[] };
    t.deepEqual(items.map(({ nickname }) => String(nickname)).sort(), [
      ...['admin', 'editor', 'null', 'owner', 'viewer'],
    ]);
  }
  t.is((await get(path, await signUp('stranger'))).status, 404);
  t.is((await get(path)).status, 401);
});

test('Members are listed page by page, each once', async (t) => {
  const { add, get, path, owner } = await startTeam(t);
  for (const name of ['a', 'b', 'c', 'd']) t.is((await add(name, 'viewer')).status, 201);
  const ids: string[] = [];
  for (let cursor = '', pages = 1; ; pages += 1) {
    const { json } = await get(`${path}?limit=2${cursor}`, owner);
    const { items, next_cursor } = json as { items: Member[]; next_cursor: string | null };
    ids.push(...items.map(({ id }) => id));
    if (next_cursor === null) {
      t.is(pages, 3);
      break;
    }
    cursor = `&cursor=${next_cursor}`;
  }
  t.is(new Set(ids).size, 5);
  t.deepEqual([...ids].sort().reverse(), ids);
});

test('A member who was removed or has left is refused from the next request on', async (t) => {
  const { join, remove, path, owner, get, project } = await startTeam(t);
  const [bob, eve] = [await join('bob', 'viewer'), await join('eve', 'editor')];
  const url = `/api/v1/projects/${project}`;
  t.is((await get(url, bob.headers)).status, 200);
  t.deepEqual(codeOf(await remove(`${path}/${eve.id}`, bob.headers)), [403, 'insufficient_role']);
  const removed = await remove(`${path}/${bob.id}`, owner);
  t.is(removed.status, 204);
  t.is(removed.text, '');
  t.is((await get(url, bob.headers)).status, 404);
  t.is((await remove(`${path}/${eve.id}`, eve.headers)).status, 204);
  t.is((await get(url, eve.headers)).status, 404);
  t.like((await get('/api/v1/projects', eve.headers)).json, { items: [] });
});

test('The last owner stays, and leaves after another owner has accepted the role and the billing', async (t) => {
  const { join, remove, patch, path, owner, verify, get, ask, project } = await startTeam(t);
  const ownerId = await verify('owner');
  t.deepEqual(codeOf(await remove(`${path}/${ownerId}`, owner)), [409, 'conflict']);
  t.deepEqual(codeOf(await patch(`${path}/${ownerId}`, { role: 'admin' }, owner)), [409, 'conflict']);
  const bob = await join('bob', 'editor');
  const offered = await patch(`${path}/${bob.id}`, { role: 'owner' }, owner);
  t.is(offered.status, 200);
  t.is((await remove(`${path}/${ownerId}`, owner)).status, 409, 'the offer alone makes no owner');
  const { offer } = offered.json as { offer: { id: string } };
  const accept = `/api/v1/auth/invitations/${offer.id}/accept`;
  t.is((await ask(accept, { method: 'POST', headers: bob.headers })).status, 200);
  t.is((await remove(`${path}/${ownerId}`, owner)).status, 409, 'the owner still pays');
  const billing = { method: 'PUT', json: { user_id: bob.id }, headers: bob.headers };
  t.is((await ask(`/api/v1/projects/${project}/billing-offer`, billing)).status, 200);
  t.is((await remove(`${path}/${ownerId}`, owner)).status, 204);
  t.is((await get(`/api/v1/projects/${project}`, owner)).status, 404);
  t.deepEqual(codeOf(await remove(`${path}/${bob.id}`, bob.headers)), [409, 'conflict']);
});

test('A malformed request is 400, and an unknown member 404', async (t) => {
  const { post, patch, remove, path, owner, makeProject, verify } = await startTeam(t);
  for (const body of [
    {},
    { email: 'bob@example.com' },
    { email: 'nobody', role: 'viewer' },
    { email: 'bob@example.com', role: 'boss' },
    { email: 'bob@example.com', role: 'viewer', note: 'x' },
  ]) {
    t.deepEqual(codeOf(await post(path, body, owner)), [400, 'invalid_request'], JSON.stringify(body));
  }
  const id = '0196a000-0000-7000-8000-0000000000ff';
  t.deepEqual(codeOf(await patch(`${path}/${id}`, { role: 'viewer' }, owner)), [404, 'not_found']);
  t.deepEqual(codeOf(await remove(`${path}/x`, owner)), [404, 'not_found']);
  t.deepEqual(codeOf(await patch(`${path}/${id}`, {}, owner)), [400, 'invalid_request']);
  // A member of another project
  const elsewhere = `/api/v1/projects/${await makeProject(owner)}/members`;
  const { id: invited } = (await post(path, { email: 'bob@example.com', role: 'viewer' }, owner))
    .json as Member;
  t.is((await remove(`${elsewhere}/${invited}`, owner)).status, 404);
  t.is((await remove(`${path}/${await verify('owner')}`, owner)).status, 409);
});

test('The two hundredth member is the last, including invitations', async (t) => {
  const { add, project, stores } = await startTeam(t);
  const members = Array.from({ length: 99 }, (_, n) => memberAdded(memberId(n), 'viewer'));
  const invited = Array.from({ length: 99 }, (_, n) =>
    memberInvited('viewer', memberId(100 + n), stores.digests.email(`m${n}@example.com`)),
  );
  const target = { aggregate: projectAggregate, id: project };
  await appendEvents(stores.handler, target, [...members, ...invited], stores.clock.now());
  t.is((await add('last', 'viewer')).status, 201);
  t.deepEqual(codeOf(await add('late', 'viewer')), [409, 'conflict']);
});
