import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { asObject, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { freePort, givenDirectory, givenService } from '../support/servers/service-process.js';
import { makeTcpProxy } from '../support/servers/proxies.js';

/** The service counts at most 60 refreshes of a client in a minute, lost ones too. */
const refreshes = 5;

test('No session ends on a network that loses every second reply, also when a repetition is late', async (t) => {
  // Given sessions of a service behind a network that loses replies
  const directory = givenDirectory(t);
  const port = await freePort();
  const service = await givenService(t, { directory, port });
  const network = await makeTcpProxy({ host: '127.0.0.1', port });
  t.teardown(() => network.close());
  const near = makeServiceClient(service.url);
  const far = makeServiceClient(`http://127.0.0.1:${network.port}`);
  const ada = await near.register('ada@example.org', 'Correct-Horse-7');
  const others = await Promise.all(
    Array.from({ length: 2 }, () => near.login('ada@example.org', 'Correct-Horse-7')),
  );
  const random = makeSeededRandom(36);
  let lost = 0;
  network.decide = () => {
    if (random() < 0.5) return 'pass';
    lost += 1;
    return 'lose-reply';
  };

  // When each refreshes until it has an answer, and the first repetition comes after more than the 10 s of tabs
  const lastTokens = await Promise.all(
    [ada, ...others].map(async ({ refreshToken }) => {
      let token = refreshToken;
      let isFirstLoss = true;
      for (let done = 0; done < refreshes;) {
        const reply = await far.post('/api/v1/auth/refresh', { refresh_token: token }).catch(() => null);
        if (reply === null) {
          await wait(isFirstLoss ? 11_000 : 20);
          isFirstLoss = false;
          continue;
        }
        if (reply.status !== 200) return reply.text;
        token = textOf(asObject(asObject(reply.json()['data'])['tokens']), 'refresh_token');
        done += 1;
      }
      return token;
    }),
  );

  // Then every session goes on
  t.true(lost > refreshes, `${lost} replies were lost`);
  for (const token of lastTokens) {
    const reply = await near.post('/api/v1/auth/refresh', { refresh_token: token });
    t.is(reply.status, 200, `${token} ${reply.text}`);
  }
});
