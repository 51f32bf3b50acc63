import test, { type ExecutionContext } from 'ava';
import { pluck } from '../../../support/given/pluck.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { answered } from '../../../support/clients/passkey-calls.js';
import { codeOf } from '../../../support/given/replies.js';
import { startTestService, type TestService } from '../../../support/servers/http-service.js';

type Headers = Readonly<Record<string, string>>;
interface Person {
  readonly id: string;
  readonly headers: Headers;
}
interface Invitation {
  readonly id: string;
  readonly kind: string;
  readonly role: string | null;
}

const day = 86_400_000;
const me = '/api/v1/auth/me';
const mine = '/api/v1/auth/invitations';

interface Scene extends TestService {
  readonly owner: Person;
  readonly victim: Person;
  readonly project: string;
  readonly url: string;
  readonly person: (name: string) => Promise<Person>;
  readonly add: (name: string, role: string, by?: Person) => Promise<Answer>;
  readonly send: (method: string, path: string, by: Person, json?: unknown) => Promise<Answer>;
  readonly invitations: (of: Person) => Promise<readonly Invitation[]>;
  readonly answer: (of: Person, how: 'accept' | 'decline', id?: string) => Promise<Answer>;
}

/** Given a project of an owner with a proved address, and another person with a proved address. */
async function given(
  t: ExecutionContext,
  overrides: Parameters<typeof startTestService>[1] = {},
): Promise<Scene> {
  const service = await startTestService(t, overrides);
  const person = async (name: string): Promise<Person> => {
    const headers = await service.signUp(name);
    return { headers, id: await service.verify(name) };
  };
  const [owner, victim] = [await person('owner'), await person('victim')];
  const project = await service.makeProject({ authorization: owner.headers['authorization'] ?? '' });
  const url = `/api/v1/projects/${project}`;
  const send: Scene['send'] = (method, path, by, json) =>
    service.ask(path, { method, headers: by.headers, ...(json === undefined ? {} : { json }) });
  const invitations: Scene['invitations'] = async (of) =>
    answered(await send('GET', mine, of))['items'] as unknown as readonly Invitation[];
  return {
    ...{ ...service, owner, victim, project, url, person, send, invitations },
    add: (name, role, by = owner) =>
      send('POST', `${url}/members`, by, { email: `${name}@example.com`, role }),
    answer: async (of, how, id) =>
      send('POST', `${mine}/${id ?? (await invitations(of))[0]?.id ?? ''}/${how}`, of),
  };
}

test('No user becomes an owner without consent, so a stranger neither uses the capacity nor blocks the erasure of an account', async (t) => {
  const { owner, victim, add, send, url, invitations } = await given(t);
  const storage = await send('POST', `${url}/storages`, owner, {
    ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' },
    credentials: { access_key: 'AK', secret_key: 'SK' },
  });
  const { id: storage_id } = storage.json as { id: string };
  const file = { storage_id, name: 'a', object_key: 'a', media_type: 'video/mp4', size: 1_000_000 };
  t.is((await send('POST', `${url}/assets`, owner, file)).status, 201);

  // When an attacker names the victim as owner, then the victim only gets an offer
  const offered = await add('victim', 'owner');
  t.is(offered.status, 201);
  t.like(offered.json, { role: 'owner', status: 'offered', joined_at: null, nickname: null });
  t.is((await send('GET', url, victim)).status, 404);
  t.is(answered(await send('GET', me, victim))['used_bytes'], 0);
  // and the attacker cannot leave it to the victim
  t.deepEqual(codeOf(await send('DELETE', `${url}/members/${owner.id}`, owner)), [409, 'conflict']);
  // and the victim deletes the account
  t.is((await invitations(victim)).length, 1);
  t.is((await send('DELETE', me, victim)).status, 204);
});

test('A member keeps the old role until the member accepts the offered ownership', async (t) => {
  const { owner, victim, add, send, url, invitations, answer, clock } = await given(t);
  t.is((await add('victim', 'editor')).status, 201);
  const member = `${url}/members/${victim.id}`;
  clock.advance(1_000);
  const offered = await send('PATCH', member, owner, { role: 'owner' });
  const { offer } = offered.json as { offer: { id: string; role: string; expires_at: string } };
  t.like(offered.json, { id: victim.id, role: 'editor', status: 'offered' });
  t.deepEqual(offer, {
    id: offer.id,
    role: 'owner',
    expires_at: new Date(clock.now().getTime() + 30 * day).toISOString(),
  });
  t.like(await send('GET', `${url}/members`, victim), { status: 200 });
  t.like((await send('GET', url, victim)).json, { role: 'editor' });
  t.deepEqual((await send('PATCH', member, owner, { role: 'owner' })).json, offered.json, 'a repetition');
  const [found] = await invitations(victim);
  t.deepEqual(found as unknown, {
    ...{ id: offer.id, kind: 'owner', project: { id: url.split('/').at(-1), name: 'Launch' } },
    ...{ role: 'owner', invited_by: 'owner', created_at: clock.now().toISOString() },
    expires_at: offer.expires_at,
  });
  // No other user can answer
  t.deepEqual(codeOf(await answer(owner, 'accept', offer.id)), [404, 'not_found']);
  const accepted = await answer(victim, 'accept');
  t.is(accepted.status, 200);
  t.like(answered(accepted), { role: 'owner', billed_to: owner.id });
  t.deepEqual(await invitations(victim), []);
  t.deepEqual(codeOf(await answer(victim, 'accept', offer.id)), [404, 'not_found']);
});

test('An offer ends when it is declined or withdrawn, when its receiver leaves, and when its giver is no owner any more', async (t) => {
  const { owner, victim, add, send, url, invitations, answer, person, clock } = await given(t);
  const second = await person('second');
  await add('second', 'editor');
  await send('PATCH', `${url}/members/${second.id}`, owner, { role: 'owner' });
  t.is((await answer(second, 'accept')).status, 200);
  const member = `${url}/members/${victim.id}`;
  const offerBy = async (by: Person) => {
    clock.advance(1_000);
    const { json } = await send('PATCH', member, by, { role: 'owner' });
    return (json as { offer: { id: string } | null }).offer?.id ?? '';
  };
  const left = async () => [
    (await invitations(victim)).length,
    codeOf(await answer(victim, 'accept', last))[0],
  ];
  let last = '';
  await add('victim', 'viewer');

  last = await offerBy(owner);
  t.is((await answer(victim, 'decline')).status, 204);
  t.deepEqual(await left(), [0, 404], 'declined');

  last = await offerBy(owner);
  t.is((await send('DELETE', `${url}/members/${last}`, second)).status, 204);
  t.deepEqual(await left(), [0, 404], 'withdrawn by its id');

  last = await offerBy(owner);
  t.like((await send('PATCH', member, owner, { role: 'viewer' })).json, { role: 'viewer', status: 'active' });
  t.deepEqual(await left(), [0, 404], 'withdrawn by another role');

  last = await offerBy(second);
  t.is((await send('PATCH', `${url}/members/${second.id}`, owner, { role: 'admin' })).status, 200);
  t.deepEqual(await left(), [0, 404], 'its giver was demoted');

  last = await offerBy(owner);
  t.is((await send('DELETE', member, victim)).status, 204);
  t.deepEqual(await left(), [0, 404], 'its receiver has left');
});

test('An offer and an invitation of an owner end after 30 days, and can then be made again', async (t) => {
  const { owner, victim, add, send, url, invitations, answer, clock, commands, person } = await given(t);
  await add('victim', 'owner');
  await person('bob');
  const bobId = (await commands.findAccount(commands.digests.email('bob@example.com')))?.userId ?? '';
  await add('bob', 'editor');
  await send('PATCH', `${url}/members/${bobId}`, owner, { role: 'owner' });
  const login = async (name: string): Promise<Person> => {
    const { tokens } = await commands.login(
      {
        email: `${name}@example.com`,
        password: 'Correct-Horse-7',
        client: { ip: '127.0.0.1', known: null },
        userAgent: null,
      },
      givenContext(6_000 + (clock.now().getTime() % 1_000_000) + name.length, clock.now()),
    );
    return { id: '', headers: { authorization: `Bearer ${tokens.access_token}` } };
  };
  const both = async () => [await login('victim'), await login('bob')] as const;
  clock.advance(30 * day - 1_000);
  for (const of of await both()) t.is((await invitations(of)).length, 1);
  clock.advance(1_000);
  const [victimNow, bobNow] = await both();
  const ownerNow = await login('owner');
  for (const of of [victimNow, bobNow]) t.deepEqual(await invitations(of), []);
  const { items } = (await send('GET', `${url}/members`, ownerNow)).json as { items: { status: string }[] };
  t.deepEqual(pluck(items, 'status'), ['active', 'active'], 'the expired ones are not shown');
  t.is((await add('victim', 'owner', ownerNow)).status, 201);
  t.like((await send('PATCH', `${url}/members/${bobId}`, ownerNow, { role: 'owner' })).json, {
    status: 'offered',
  });
  for (const of of [victimNow, bobNow]) t.is((await answer(of, 'accept')).status, 200);
  t.like((await send('GET', url, victimNow)).json, { role: 'owner' });
  t.not(victim.id, '');
});

test('An invitation of an owner waits for consent also when its address is proved later; another role does not', async (t) => {
  const { add, signUp, verify, invitations, answer, commands, project, owner, send, url, stores } =
    await given(t);
  const invited = await add('later', 'owner');
  t.like(invited.json, { status: 'offered' });
  const later: Person = { headers: await signUp('later'), id: '' };
  t.deepEqual(await invitations(later), [], 'the address is not proved');
  t.is((await answer(later, 'accept', (invited.json as { id: string }).id)).status, 404);
  await verify('later');
  const invitationId = (invited.json as { id: string }).id;
  await commands.acceptInvitation(
    { projectId: project, invitationId },
    givenContext(5_000, stores.clock.now()),
  );
  t.is((await send('GET', url, later)).status, 404, 'the proof alone makes no owner');
  t.like((await invitations(later))[0], { id: invitationId, kind: 'membership', role: 'owner' });
  // With another role, the invited person is a member
  const changed = await send('PATCH', `${url}/members/${invitationId}`, owner, { role: 'editor' });
  t.is(changed.status, 200, changed.text);
  t.like((await send('GET', url, later)).json, { role: 'editor' });
  // And the reply shows the member, because the invitation has ended
  t.like(changed.json, { status: 'active', role: 'editor', email: 'later@example.com', invited_at: null });
});

test('The billing moves to another owner by offer and acceptance, or to the owner who takes it', async (t) => {
  const { owner, victim, add, send, url, invitations, answer, person, clock } = await given(t);
  const offer = (by: Person, to: Person) => send('PUT', `${url}/billing-offer`, by, { user_id: to.id });
  await add('victim', 'editor');
  t.deepEqual(codeOf(await offer(victim, victim)), [403, 'insufficient_role']);
  // Only an owner pays, so an offer to another member is of both, and takes the place of one of ownership
  await send('PATCH', `${url}/members/${victim.id}`, owner, { role: 'owner' });
  t.like((await invitations(victim))[0], { kind: 'owner', role: 'owner' });
  clock.advance(1_000);
  t.like((await offer(owner, victim)).json, { billed_to: owner.id, billing_offer: { user_id: victim.id } });
  t.like((await invitations(victim))[0], { kind: 'both', role: 'owner' });
  t.is((await invitations(victim)).length, 1);
  t.like(answered(await answer(victim, 'accept')), { role: 'owner', billed_to: victim.id });
  t.like((await offer(owner, owner)).json, { billed_to: owner.id });
  clock.advance(1_000);
  const offered = await offer(owner, victim);
  t.is(offered.status, 200, offered.text);
  t.like(offered.json, { billed_to: owner.id, billing_offer: { user_id: victim.id, offered_by: owner.id } });
  t.like((await invitations(victim))[0], { kind: 'payer', role: null });
  // The payer cannot leave, be removed, be demoted or be erased before
  for (const by of [owner, victim]) {
    t.deepEqual(codeOf(await send('DELETE', `${url}/members/${owner.id}`, by)), [409, 'conflict']);
    t.is((await send('PATCH', `${url}/members/${owner.id}`, by, { role: 'admin' })).status, 409);
  }
  t.regex((await send('DELETE', me, owner)).text, /is billed to this account/);
  // An offer is withdrawn, declined and accepted
  t.is((await send('DELETE', `${url}/billing-offer`, victim)).status, 204);
  t.deepEqual(await invitations(victim), []);
  await offer(owner, victim);
  t.is((await answer(victim, 'decline')).status, 204);
  t.like((await send('GET', url, owner)).json, { billed_to: owner.id, billing_offer: null });
  clock.advance(1_000);
  await offer(owner, victim);
  t.like(answered(await answer(victim, 'accept')), { billed_to: victim.id, billing_offer: null });
  // An owner takes it without an offer
  t.like((await offer(owner, owner)).json, { billed_to: owner.id });
  t.is((await send('DELETE', `${url}/members/${victim.id}`, victim)).status, 204);
  const stranger = await person('stranger');
  t.is((await offer(stranger, stranger)).status, 404);
  t.is((await offer(owner, stranger)).status, 404);
});

test('A repetition of a creation does not show the project to a person who has left it', async (t) => {
  // Given a project that another owner has taken over
  const { ask, owner, victim, send, answer } = await given(t);
  const headers = { ...owner.headers, 'idempotency-key': 'film' };
  const create = () => ask('/api/v1/projects', { method: 'POST', headers, json: { name: 'Film' } });
  const first = await create();
  const url = `/api/v1/projects/${(first.json as { id: string }).id}`;
  const offered = { email: 'victim@example.com', role: 'owner' };
  t.is((await send('POST', `${url}/members`, owner, offered)).status, 201);
  t.is((await answer(victim, 'accept')).status, 200);
  t.is((await send('PUT', `${url}/billing-offer`, victim, { user_id: victim.id })).status, 200);
  t.is((await create()).text, first.text);
  // When the creator leaves
  t.is((await send('DELETE', `${url}/members/${owner.id}`, owner)).status, 204);
  // Then the repetition is refused, as after a crash that lost the first reply
  const again = await create();
  t.is(again.status, 409, again.text);
});

test('A user who owns 100 projects accepts no offer of ownership or of the billing until one of them is gone', async (t) => {
  const { owner, victim, add, send, url, answer, commands, clock } = await given(t);
  const projects: string[] = [];
  for (let n = 0; n < 100; n += 1) {
    const create = { ownerId: victim.id, name: `Film ${n}` };
    projects.push((await commands.createProject(create, givenContext(20_000 + n, clock.now()))).resource.id);
  }
  t.is((await add('victim', 'editor')).status, 201);
  t.is((await send('PATCH', `${url}/members/${victim.id}`, owner, { role: 'owner' })).status, 200);
  t.deepEqual(codeOf(await answer(victim, 'accept')), [409, 'project_limit_reached']);
  t.like((await send('GET', url, victim)).json, { role: 'editor' });
  // When a project ends
  t.is((await send('DELETE', `/api/v1/projects/${projects[0] ?? ''}`, victim)).status, 204);
  // Then the offer still holds
  t.is((await answer(victim, 'accept')).status, 200);
  t.like((await send('GET', url, victim)).json, { role: 'owner' });
  // and an invitation as owner is refused at its acceptance too
  const other = await send('POST', '/api/v1/projects', owner, { name: 'Other' });
  const members = `/api/v1/projects/${(other.json as { id: string }).id}/members`;
  t.is((await send('POST', members, owner, { email: 'victim@example.com', role: 'owner' })).status, 201);
  t.deepEqual(codeOf(await answer(victim, 'accept')), [409, 'project_limit_reached']);
});

test('Where mail is configured, only a user with a proved address adds or invites, so made-up accounts send no mail', async (t) => {
  const { signUp, makeProject, post, verify, stores } = await given(t);
  const attacker = await signUp('attacker');
  const members = `/api/v1/projects/${await makeProject(attacker)}/members`;
  const before = await stores.eventStore.head();
  for (const name of ['victim', 'unknown']) {
    const invitation = { email: `${name}@example.com`, role: 'viewer' };
    t.deepEqual(codeOf(await post(members, invitation, attacker)), [403, 'email_not_verified']);
  }
  t.is(await stores.eventStore.head(), before, 'nothing is appended, so nothing is mailed');
  await verify('attacker');
  t.is((await post(members, { email: 'unknown@example.com', role: 'viewer' }, attacker)).status, 201);
  const withoutMail = await startTestService(t, { mailConfigured: false });
  const ada = await withoutMail.signUp('ada');
  await withoutMail.signUp('bob');
  await withoutMail.verify('bob');
  const path = `/api/v1/projects/${await withoutMail.makeProject(ada)}/members`;
  const addition = { email: 'bob@example.com', role: 'viewer' };
  t.is((await withoutMail.post(path, addition, ada)).status, 201);
});

test('The limits on invitations bound how many proved addresses an account finds out, and how many mails a user gets', async (t) => {
  const { add, owner, victim, send, url, person } = await given(t);
  // Each role that is given or offered mails the victim
  await add('victim', 'viewer');
  const change = (role: string) => send('PATCH', `${url}/members/${victim.id}`, owner, { role });
  let mailed = 1;
  for (let n = 0; n < 20; n += 1) {
    t.is((await change('viewer')).status, 200, 'a lower role is never refused');
    const raised = await change('editor');
    if (raised.status !== 200) {
      t.deepEqual(codeOf(raised), [429, 'too_many_attempts']);
      break;
    }
    mailed += 1;
  }
  t.is(mailed, 10);
  // A removed victim cannot be added again on that day
  await send('DELETE', `${url}/members/${victim.id}`, owner);
  t.deepEqual(codeOf(await add('victim', 'viewer')), [429, 'too_many_attempts']);
  await person('other');
  t.is((await add('other', 'viewer')).status, 201);
});

test('The role of an invitation that adds a user at once counts under the limits on invitations, because it mails the user', async (t) => {
  const { add, owner, send, url, victim } = await given(t);
  let mailed = 0;
  for (let n = 0; n < 20; n += 1) {
    const invited = await add('victim', 'owner');
    if (invited.status !== 201) break;
    mailed += 1;
    const { id } = invited.json as { id: string };
    const changed = await send('PATCH', `${url}/members/${id}`, owner, { role: 'editor' });
    if (changed.status !== 200) break;
    mailed += 1;
    t.is((await send('DELETE', `${url}/members/${victim.id}`, owner)).status, 204);
  }
  t.is(mailed, 10);
});

for (const { how, end } of [
  {
    how: 'removed',
    end: (scene: Scene, admin: Person) =>
      scene.send('DELETE', `${scene.url}/members/${admin.id}`, scene.owner),
  },
  {
    how: 'demoted',
    end: (scene: Scene, admin: Person) =>
      scene.send('PATCH', `${scene.url}/members/${admin.id}`, scene.owner, { role: 'editor' }),
  },
  {
    how: 'gone',
    end: (scene: Scene, admin: Person) => scene.send('DELETE', `${scene.url}/members/${admin.id}`, admin),
  },
  { how: 'erased', end: (scene: Scene, admin: Person) => scene.send('DELETE', me, admin) },
]) {
  test(`The open invitations of an admin who is ${how} end, and add no member later`, async (t) => {
    // Given an invitation that an admin has sent to a second address, and one of the owner
    const scene = await given(t);
    const { person, add, send, url, owner, signUp, verify, commands, project, stores } = scene;
    const admin = await person('admin');
    t.is((await add('admin', 'admin')).status, 201);
    const { id: invitationId } = (await add('backdoor', 'editor', admin)).json as { id: string };
    t.is((await add('guest', 'viewer')).status, 201);
    // When the admin is no admin any more
    t.true((await end(scene, admin)).status < 300);
    // Then the invitation has ended
    const { items } = (await send('GET', `${url}/members`, owner)).json as { items: { email: string }[] };
    t.false(items.some(({ email }) => email === 'backdoor@example.com'));
    t.true(
      items.some(({ email }) => email === 'guest@example.com'),
      'invitations of others stay',
    );
    const backdoor = await signUp('backdoor');
    await verify('backdoor');
    await commands.acceptInvitation(
      { projectId: project, invitationId },
      givenContext(5_000, stores.clock.now()),
    );
    t.is((await scene.get(url, backdoor)).status, 404);
  });
}
