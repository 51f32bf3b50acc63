import test, { type ExecutionContext } from 'ava';
import { pluck } from '../support/given/pluck.js';
import { openTestStore, startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import {
  asObject,
  codeIn,
  dataOf,
  makeServiceClient,
  refreshTokenOf,
  signedIn,
} from '../support/clients/service-client.js';
import {
  givenInProcess,
  givenTwoInProcess,
  type ServiceInProcess,
} from '../support/servers/service-in-process.js';
import { keyEnvironment } from '../support/servers/service-process.js';
import { givenSmtpServer } from '../support/servers/smtp-server.js';

const password = 'Correct-Horse-9';
type Services = readonly [ServiceInProcess, ServiceInProcess];

/** Two services with the log in EventStoreDB. Each service has a separate connection. */
async function givenEventStoreDb(t: ExecutionContext): Promise<Services> {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const eventStore = openTestStore(server.url, { streamPrefix: 'stowage.' });
  t.teardown(() => eventStore.close());
  const environment = { ...keyEnvironment, EVENTSTOREDB_URL: server.url };
  const one = await givenInProcess(t, { environment });
  const { directory, services } = one;
  const stores = { ...services.stores, eventStore };
  return [one, await givenInProcess(t, { directory, environment, stores })];
}

const stores = [
  ['embedded stores', givenTwoInProcess],
  ['a log in EventStoreDB', givenEventStoreDb],
] as const;

for (const [what, given] of stores) {
  test(`One refresh token that is used many times at once over ${what} leads to one successor`, async (t) => {
    const [one, two] = await given(t);
    const clients = [makeServiceClient(one.url), makeServiceClient(two.url)];
    const [first, second] = clients;
    if (first === undefined || second === undefined) return t.fail();
    const ada = await first.register('ada@example.com', password);
    const other = await second.login('ada@example.com', password);
    let token = ada.refreshToken;
    for (let round = 0; round < 5; round += 1) {
      const replies = await Promise.all(
        clients.flatMap((client) =>
          Array.from({ length: 8 }, () => client.post('/api/v1/auth/refresh', { refresh_token: token })),
        ),
      );
      t.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
      const successors = new Set(replies.map(refreshTokenOf));
      t.is(successors.size, 1);
      [token = ''] = successors;
    }
    const { events } = await one.services.eventStore.readAll({ after: null, limit: 500 });
    t.is(events.filter(({ type }) => type === 'RefreshTokenRotated').length, 5);

    // A session that one service ends is refused by the other at once.
    t.is((await second.post('/api/v1/auth/logout', {}, ada.headers)).status, 204);
    t.is((await first.get('/api/v1/auth/me', ada.headers)).status, 401);
    t.is((await first.post('/api/v1/auth/refresh', { refresh_token: token })).status, 401);
    t.is((await first.get('/api/v1/auth/me', other.headers)).status, 200);
    t.is((await first.post('/api/v1/auth/logout', { all: true }, other.headers)).status, 204);
    t.is((await second.get('/api/v1/auth/me', other.headers)).status, 401);
    return undefined;
  });
}

const email = 'ada@example.com';

test('A requested code arrives by mail and signs in, and the reply takes at least 300 ms', async (t) => {
  const smtp = await givenSmtpServer(t);
  const service = await givenInProcess(t, { environment: { SMTP_URL: smtp.url } });
  const client = makeServiceClient(service.url);
  const { userId } = await client.register(email, password);

  const began = performance.now();
  for (const address of ['nobody@example.com', email]) {
    t.is((await client.post('/api/v1/auth/email-code/send', { email: address })).status, 200);
  }
  t.true(performance.now() - began >= 600);
  const [mail] = await smtp.received(1);
  t.deepEqual(mail?.to, [email]);
  const code = codeIn(mail?.email.text);
  const reply = await client.post('/api/v1/auth/email-code/login', { email, code });
  t.is(reply.status, 200);
  t.is(signedIn(reply.json()).userId, userId);
  t.true(asObject(dataOf(reply)['user'])['email_verified']);
  t.is((await client.post('/api/v1/auth/email-code/login', { email, code })).status, 401);
  // The address without an account got no mail. The first proof of the other one causes a notice.
  const mails = await smtp.received(2);
  t.deepEqual(
    mails.map(({ to, email: { subject } }) => [to, subject]),
    [
      [[email], mail?.email.subject],
      [[email], 'What others may have set up in your account is void'],
    ],
  );
  t.deepEqual(pluck(smtp.confirmations, 'to'), [[email]]);
});
