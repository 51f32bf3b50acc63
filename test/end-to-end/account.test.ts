import test, { type ExecutionContext } from 'ava';
import type { Clock } from '../../src/kit/time/clock.js';
import { erased } from '../../src/keys/sealing/sealer.js';
import { sealedSchema } from '../../src/event-sourcing/ports/events.js';
import { eventually } from '../support/eventually.js';
import { totpCode } from '../support/fakes/authenticator-app.js';
import { type Canaries, findCanaries, findCanariesInFiles } from '../support/examples/canaries.js';
import {
  asObject,
  codeIn,
  dataOf,
  makeServiceClient,
  operate,
  type ServiceReply,
  textOf,
} from '../support/clients/service-client.js';
import { settableClock } from '../support/fakes/settable-clock.js';
import {
  givenInProcess,
  givenTwoInProcess,
  makeKeptLog,
  startInProcess,
} from '../support/servers/service-in-process.js';
import { operatorContext } from '../support/given/given-stores.js';
import { runCli, givenDirectory, givenService } from '../support/servers/service-process.js';
import { givenSmtpServer } from '../support/servers/smtp-server.js';

const person = {
  email: 'canary.ada@example.org',
  newEmail: 'canary.countess@example.net',
  nickname: 'CanaryNickname',
  newNickname: 'CanaryCountess',
  password: 'Canary-Password-41',
  agent: 'CanaryBrowser/7.3',
};

const hourMs = 3_600_000;

/** Two services over the same embedded stores, with a mail server and all their log lines. */
async function given(t: ExecutionContext, { clock }: { readonly clock?: Clock } = {}) {
  const smtp = await givenSmtpServer(t);
  const { lines, log } = makeKeptLog();
  const options = { log, environment: { SMTP_URL: smtp.url }, ...(clock === undefined ? {} : { clock }) };
  const [one, two] = await givenTwoInProcess(t, options);
  const { directory, services } = one;
  const events = async () => (await services.eventStore.readAll({ after: null, limit: 500 })).events;
  /** Waits for an event that a reaction appends. */
  const appended = (type: string) =>
    eventually(`${type} is appended`, async () => (await events()).some((event) => event.type === type));
  /** Starts a further service over the same stores. */
  const startAnother = async () =>
    makeServiceClient((await givenInProcess(t, { ...options, directory, stores: services.stores })).url);
  return {
    ...{ directory, services, smtp, lines, events, appended, startAnother },
    clients: [makeServiceClient(one.url), makeServiceClient(two.url)] as const,
  };
}

test('One code of the second factor passes once on two services and replaces the refresh token', async (t) => {
  const { clients } = await given(t);
  const [first, second] = clients;
  const ada = await first.register(person.email, person.password);
  const enrolled = await first.post('/api/v1/auth/2fa/totp', {}, ada.headers);
  const secret = textOf(dataOf(enrolled), 'secret');
  const confirmed = await first.post(
    '/api/v1/auth/2fa/totp/confirm',
    { code: totpCode(secret, new Date()) },
    ada.headers,
  );
  t.is(confirmed.status, 200, confirmed.text);
  // A session that has passed no second factor yet
  const weak = await second.login(person.email, person.password);
  t.is((await first.get('/api/v1/auth/sessions', weak.headers)).status, 403);
  const race = (body: Readonly<Record<string, string>>) =>
    Promise.all(clients.map((client) => client.post('/api/v1/auth/2fa/verify', body, weak.headers)));
  const statuses = (replies: readonly ServiceReply[]) => replies.map(({ status }) => status).sort();
  const replies = await race({ code: totpCode(secret, new Date(), 1) });
  t.deepEqual(statuses(replies), [200, 401]);
  const [recovery] = dataOf(confirmed)['recovery_codes'] as readonly string[];
  t.deepEqual(statuses(await race({ recovery_code: recovery ?? '' })), [200, 401]);
  // The earlier refresh token is answered with the tokens that the session received when it passed
  const verified = replies.find(({ status }) => status === 200);
  if (verified === undefined) return t.fail();
  const tokens = asObject(dataOf(verified)['tokens']);
  const refreshed = await second.post('/api/v1/auth/refresh', { refresh_token: weak.refreshToken });
  t.is(refreshed.status, 200, refreshed.text);
  t.is(textOf(asObject(dataOf(refreshed)['tokens']), 'refresh_token'), textOf(tokens, 'refresh_token'));
  const strong = { authorization: `Bearer ${textOf(tokens, 'access_token')}` };
  t.is((await second.get('/api/v1/auth/sessions', strong)).status, 200);
  return undefined;
});

test('A mailed code changes an address, and the earlier one is released after 72 hours, also by a later process', async (t) => {
  const clock = settableClock();
  const { clients, smtp, events, appended, startAnother } = await given(t, { clock });
  const [first, second] = clients;
  const ada = await first.register(person.email, person.password);
  const asked = await first.post('/api/v1/auth/email', { email: person.newEmail }, ada.headers);
  t.is(asked.status, 200, asked.text);
  const [mail] = await smtp.received(1);
  t.deepEqual(mail?.to, [person.newEmail]);
  const code = codeIn(mail?.email.text);
  t.is((await second.post('/api/v1/auth/email/confirm', { code }, ada.headers)).status, 204);
  t.like(dataOf(await first.get('/api/v1/auth/me', ada.headers)), {
    email: person.newEmail,
    email_verified: true,
  });
  // The earlier address receives the notice, and the owner can have it back for 72 hours
  const [, notice] = await smtp.received(2);
  t.deepEqual(notice?.to, [person.email]);
  t.is(notice?.email.subject, 'The address of your account was changed');
  t.regex(notice?.email.text ?? '', /take the account back with this address and the code/);
  const { email, password } = person;
  clock.advance(71 * hourMs);
  const taken = await second.post('/api/v1/auth/register', { email, password });
  t.is(taken.status, 409, taken.text);
  t.like(taken.json(), { code: 'email_taken' });
  t.false((await events()).some(({ type }) => type === 'EmailReleased'));
  // A process looks for due timers at its start. Those that run look once a minute.
  clock.advance(hourMs);
  const later = await startAnother();
  await appended('FormerAddressLapsed');
  await appended('EmailReleased');
  t.not((await later.register(email, password)).userId, ada.userId);
  t.is((await later.login(person.newEmail, password)).userId, ada.userId);
});

test('An erased person can neither sign in nor be found, and no sealed value of the person opens', async (t) => {
  // Given a person who has used every function, also in a project of another owner
  const { directory, services, clients, smtp, lines, events } = await given(t);
  const [first, second] = clients;
  const agent = { 'user-agent': person.agent };
  const ada = await first.register(person.email, person.password, { nickname: person.nickname });
  const other = await second.login(person.email, person.password);
  const headers = { ...ada.headers, ...agent };
  const patched = await first.patch('/api/v1/auth/me', { nickname: person.newNickname }, headers);
  t.is(patched.status, 200, patched.text);
  await first.post('/api/v1/auth/2fa/totp', {}, headers);
  await first.post('/api/v1/auth/email', { email: person.newEmail }, headers);
  const [mail] = await smtp.received(1);
  await first.post('/api/v1/auth/email/confirm', { code: codeIn(mail?.email.text) }, headers);
  await first.post('/api/v1/projects', { name: 'Her own' }, headers);
  const bob = await first.register('bob@example.org', person.password);
  await services.commands.verifyEmail({ email: 'bob@example.org' }, operatorContext());
  const path = `/api/v1/projects/${await first.makeProject(bob.headers)}`;
  const added = await first.post(`${path}/members`, { email: person.newEmail, role: 'admin' }, bob.headers);
  t.is(added.status, 201, added.text);
  const issued = await first.post(`${path}/api-keys`, { name: 'k', scopes: ['storage:read'] }, headers);
  const key = { 'x-api-key': textOf(issued.json(), 'key') };
  t.is((await second.get(`${path}/storages`, key)).status, 200);
  const sealed = (await events()).flatMap(({ stream, data }) => {
    const hers = stream === `user-${ada.userId}` || data['user_id'] === ada.userId;
    return Object.entries(hers ? data : {}).flatMap(([field, value]) => {
      const parsed = sealedSchema.safeParse(value);
      // This value alone is sealed under a name that differs from its field.
      const name = field === 'secret' ? 'totp_secret' : field;
      return parsed.success ? [{ field: name, value: parsed.data }] : [];
    });
  });
  const open = () =>
    Promise.all(
      sealed.map(({ field, value }) =>
        services.sealer.open({ kind: 'person', userId: ada.userId }, field, value),
      ),
    );
  const before = await open();
  for (const value of [person.email, person.newEmail, person.nickname, person.newNickname]) {
    t.true(before.includes(value), `before, ${value} can be opened`);
  }

  // When the account is deleted
  const deleted = await first.delete('/api/v1/auth/me', headers);
  t.is(deleted.status, 204, deleted.text);

  // Then no session and no key is accepted, at once and in both services
  for (const client of clients) {
    for (const { headers: session } of [ada, other]) {
      t.is((await client.get('/api/v1/auth/me', session)).status, 401);
    }
    t.is((await client.get(`${path}/storages`, key)).status, 401);
    t.is((await client.post('/api/v1/auth/refresh', { refresh_token: other.refreshToken })).status, 401);
  }
  // and no value opens, in the log or in a view
  t.deepEqual(new Set(await open()), new Set([erased]));
  const members = await first.get(`${path}/members`, bob.headers);
  t.is((members.json()['items'] as readonly unknown[]).length, 1);
  const canaries: Canaries = Object.fromEntries(
    Object.entries(person).map(([name, value]) => [name, Buffer.from(value)]),
  );
  t.deepEqual(findCanaries(canaries, 'log', Buffer.from(lines.join(''))), []);
  t.deepEqual(findCanaries(canaries, 'replies', Buffer.from(members.text)), []);
  t.deepEqual(await findCanariesInFiles(canaries, directory, ['keys.json']), []);
  // and the address is free
  t.not((await second.register(person.newEmail, person.password)).userId, ada.userId);
});

test('A service without a mail server sends no notice, and one that gets a mail server sends the recent ones', async (t) => {
  const directory = givenDirectory(t);
  const smtp = await givenSmtpServer(t);
  const password = { current_password: person.password, new_password: 'Canary-Password-42' };
  const without = await startInProcess({ directory });
  const client = makeServiceClient(without.url);
  const ada = await client.register(person.email, person.password);
  t.is((await client.post('/api/v1/auth/password', password, ada.headers)).status, 204);
  await without.close();

  await givenInProcess(t, { directory, environment: { SMTP_URL: smtp.url } });
  const [mail] = await smtp.received(1);
  t.deepEqual(mail?.to, [person.email]);
  t.is(mail?.email.subject, 'Your password was changed');
});

test('Operators verify addresses and erase accounts on the command line', async (t) => {
  const data = givenDirectory(t);
  const service = await givenService(t, { directory: data });
  const client = makeServiceClient(service.url);
  const ada = await client.register(person.email, person.password);
  const run = (...args: string[]) => runCli(data, ['user', ...args]);

  const verified = await run('verify', person.email);
  t.is(verified.code, 0, verified.stderr);
  t.like(dataOf(await client.get('/api/v1/auth/me', ada.headers)), { email_verified: true });
  t.regex((await run('verify', 'nobody@example.org')).stderr, /there is no account with this address/);
  await t.throwsAsync(operate(data, 'user erase', { user_id: 'no-uuid' }), { message: /user_id/ });

  const erasure = await run('erase', ada.userId, '--yes', '--json');
  t.is(erasure.code, 0, erasure.stderr);
  t.deepEqual(JSON.parse(erasure.stdout), { user_id: ada.userId });
  t.is((await client.get('/api/v1/auth/me', ada.headers)).status, 401);
});
