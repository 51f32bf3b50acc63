import test, { type ExecutionContext } from 'ava';
import { pluck } from '../support/given/pluck.js';
import type { Limits } from '../../src/config/config.js';
import {
  asObject,
  codeIn,
  makeServiceClient,
  type ServiceClient,
  type SignedIn,
  signedIn,
  textOf,
} from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { operatorContext } from '../support/given/given-stores.js';
import { givenInProcess } from '../support/servers/service-in-process.js';
import { givenSmtpServer, type TestSmtpServer } from '../support/servers/smtp-server.js';

const password = 'Correct-Horse-9';
const email = 'bob@example.com';
const provedNotice = 'What others may have set up in your account is void';
type Headers = Readonly<Record<string, string>>;

async function given(t: ExecutionContext, limits: Limits = {}) {
  const smtp = await givenSmtpServer(t);
  const service = await givenInProcess(t, { environment: { SMTP_URL: smtp.url }, limits });
  const client = makeServiceClient(service.url);
  const owner = await client.register('owner@example.com', password);
  await service.services.commands.verifyEmail({ email: 'owner@example.com' }, operatorContext());
  const project = await client.makeProject(owner.headers, 'Rivers');
  const url = `/api/v1/projects/${project}`;
  return {
    ...{ service, smtp, client, owner, url },
    invite: () => client.post(`${url}/members`, { email, role: 'editor' }, owner.headers),
    remove: (id: string, headers: Headers) => client.delete(`${url}/members/${id}`, headers),
    membersOf: async (headers: Headers) => {
      const { items } = (await client.get(`${url}/members`, headers)).json();
      return Array.isArray(items) ? items.map((item) => asObject(item)) : [];
    },
    /** Whether the address of the invitation can still be opened. */
    isKnown: async (invitationId: string) => {
      const scope = { kind: 'invitation', projectId: project, invitationId } as const;
      return service.services.sealer.seal(scope, 'email', 'x').then(
        () => true,
        (error: unknown) => !(error instanceof Error && error.name === 'KeyDestroyed'),
      );
    },
  };
}

/** Signs in by a mailed code, which proves the address and ends the earlier sessions. */
async function proveAddress(
  t: ExecutionContext,
  client: ServiceClient,
  smtp: TestSmtpServer,
): Promise<SignedIn> {
  t.is((await client.post('/api/v1/auth/email-code/send', { email })).status, 200);
  // An invitation mail has no code.
  const code = await eventually('the mail with the code arrives', () => {
    return smtp.mails.map((mail) => codeIn(mail.email.text)).find((found) => found !== '');
  });
  const reply = await client.post('/api/v1/auth/email-code/login', { email, code });
  t.is(reply.status, 200, reply.text);
  // The proof causes a notice. It comes before the mails that tests wait for afterwards.
  await eventually('the notice arrives', () =>
    smtp.mails.some(({ email: { subject } }) => subject === provedNotice),
  );
  return signedIn(reply.json());
}

test('An invited address receives a mail, and its owner becomes a member by proving it', async (t) => {
  // Given an invitation
  const { client, smtp, url, invite, membersOf, owner, isKnown } = await given(t);
  const invited = await invite();
  t.is(invited.status, 201, invited.text);
  const invitationId = textOf(invited.json(), 'id');
  const [mail] = await smtp.received(1);
  t.deepEqual(mail?.to, [email]);
  t.regex(mail?.email.text ?? '', /Rivers/);
  // When an account registers with the address, then it is not a member yet
  const registered = await client.register(email, password);
  t.is((await client.get(url, registered.headers)).status, 404);
  t.true(await isKnown(invitationId));
  // When the account proves the address, then it is a member, and the address of the invitation is destroyed
  const bob = await proveAddress(t, client, smtp);
  await eventually('Bob is a member', async () => (await client.get(url, bob.headers)).status === 200);
  t.like((await client.get(url, bob.headers)).json(), { role: 'editor' });
  const members = await membersOf(owner.headers);
  t.deepEqual(pluck(members, 'status'), ['active', 'active']);
  await eventually('the invitation is gone', async () => !(await isKnown(invitationId)));
});

test('A withdrawn invitation is forgotten and makes no account a member', async (t) => {
  const { client, smtp, url, invite, remove, owner, isKnown } = await given(t);
  const invitationId = textOf((await invite()).json(), 'id');
  t.is((await remove(invitationId, owner.headers)).status, 204);
  await client.register(email, password);
  const bob = await proveAddress(t, client, smtp);
  await eventually('the invitation is gone', async () => !(await isKnown(invitationId)));
  t.is((await client.get(url, bob.headers)).status, 404);
  // When the account is added now, then it is a member at once, and a mail says by whom and how to leave
  const mails = smtp.mails.length;
  t.like((await client.post(`${url}/members`, { email, role: 'viewer' }, owner.headers)).json(), {
    id: bob.userId,
    status: 'active',
  });
  t.is((await client.get(url, bob.headers)).status, 200);
  const told = (await smtp.received(mails + 1)).at(-1);
  t.deepEqual(told?.to, [email]);
  t.regex(told?.email.text ?? '', /owner gave you the role viewer in the project "Rivers"/);
  t.true(told?.email.text?.includes(`DELETE ${url}/members/${bob.userId}`));
});

test('The deletion of a project destroys the addresses of its invitations', async (t) => {
  const { client, url, invite, owner, isKnown } = await given(t);
  const invitationId = textOf((await invite()).json(), 'id');
  const deleted = await client.delete(url, owner.headers);
  t.is(deleted.status, 204);
  await eventually('the invitation is gone', async () => !(await isKnown(invitationId)));
});

test('One of two owners stays when both leave at once over HTTP, and ownership is accepted after a mail', async (t) => {
  const { client, smtp, url, owner, remove } = await given(t);
  await client.register(email, password);
  const bob = await proveAddress(t, client, smtp);
  const mails = smtp.mails.length;
  const offered = await client.post(`${url}/members`, { email, role: 'owner' }, owner.headers);
  t.like(offered.json(), { role: 'owner', status: 'offered' });
  t.regex((await smtp.received(mails + 1)).at(-1)?.email.text ?? '', /only if you accept/);
  t.is((await client.get(url, bob.headers)).status, 404);
  const accept = `/api/v1/auth/invitations/${textOf(offered.json(), 'id')}/accept`;
  t.is((await client.send(accept, { method: 'POST', headers: { ...bob.headers } })).status, 200);
  t.like((await client.get(url, bob.headers)).json(), { role: 'owner', billed_to: owner.userId });
  const outcomes = await Promise.all([remove(owner.userId, owner.headers), remove(bob.userId, bob.headers)]);
  t.deepEqual(pluck(outcomes, 'status'), [409, 204]);
});

test('An address that is invited repeatedly receives as many mails as the limit allows', async (t) => {
  const limits = { invitation_address: { limit: 2, seconds: 86_400 } };
  const { smtp, owner, invite, remove } = await given(t, limits);
  for (let n = 0; n < 2; n += 1) {
    const invited = await invite();
    t.is(invited.status, 201, invited.text);
    await smtp.received(n + 1);
    t.is((await remove(textOf(invited.json(), 'id'), owner.headers)).status, 204);
  }
  const refused = await invite();
  t.is(refused.status, 429);
  t.like(refused.json(), { code: 'too_many_attempts' });
  t.regex(refused.headers.get('retry-after') ?? '', /^4[23]\d{3}$/);
  t.is(smtp.mails.length, 2);
});
