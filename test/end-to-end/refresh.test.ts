import test from 'ava';
import { makeServiceClient, textOf, asObject, type ServiceReply } from '../support/service-client.js';
import { startInProcess } from '../support/service-in-process.js';
import { makeDataDirectory } from '../support/service-process.js';

const password = 'Correct-Horse-9';
const refreshTokenOf = (reply: ServiceReply) =>
  textOf(asObject(asObject(reply.json()['data'])['tokens']), 'refresh_token');

test('Given two services over the same stores, when one token is used many times at once, then all get one successor', async (t) => {
  const data = await makeDataDirectory();
  const directory = data.path;
  const one = await startInProcess({ directory });
  const two = await startInProcess({ directory, stores: one.services.stores });
  t.teardown(async () => {
    await two.close();
    await one.close();
    await data.remove();
  });
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

  // What one service has ended, the other refuses at once.
  t.is((await second.post('/api/v1/auth/logout', {}, ada.headers)).status, 204);
  t.is((await first.get('/api/v1/auth/me', ada.headers)).status, 401);
  t.is((await first.post('/api/v1/auth/refresh', { refresh_token: token })).status, 401);
  t.is((await first.get('/api/v1/auth/me', other.headers)).status, 200);
  t.is((await first.post('/api/v1/auth/logout', { all: true }, other.headers)).status, 204);
  t.is((await second.get('/api/v1/auth/me', other.headers)).status, 401);
  return undefined;
});
