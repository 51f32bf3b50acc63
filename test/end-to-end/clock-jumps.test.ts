import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { asObject, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { makeClockOfProcess } from '../support/servers/clock-of-process.js';
import { givenDirectory, givenService } from '../support/servers/service-process.js';

const hourMs = 3_600_000;
const password = 'Correct-Horse-7';

async function given(t: ExecutionContext) {
  const directory = givenDirectory(t);
  const clock = makeClockOfProcess(directory);
  const limits = join(directory, 'limits.json');
  await writeFile(limits, JSON.stringify({ wrong_agent_secret: { limit: 2, seconds: 4 } }));
  const environment = { ...clock.environment, LIMITS_FILE: limits, NODE_AGENT_SECRET: 'let-the-agents-in' };
  const service = await givenService(t, { directory, environment });
  return { service, client: makeServiceClient(service.url), set: (ms: number) => clock.set(ms) };
}

for (const [what, jumps] of [
  ['an hour forward and back', [hourMs, 0]],
  ['an hour back and forward', [-hourMs, 0]],
] as const) {
  test(`A served process whose clock is set ${what} keeps its sessions, and serves its own writes`, async (t) => {
    // Given an account with a project
    const { service, client, set } = await given(t);
    const ada = await client.register('ada@example.org', password);
    let { accessToken, refreshToken } = ada;
    const names: string[] = [];
    for (const offsetMs of [0, ...jumps]) {
      // When the clock is set
      await set(offsetMs);
      const own = { authorization: `Bearer ${accessToken}` };
      const before = await client.get('/api/v1/auth/me', own);
      // Then an access token of another time is refused with 401, and the refresh token makes one that is valid
      t.is(before.status, names.length === 0 ? 200 : 401, before.text);
      const refreshed = await client.post('/api/v1/auth/refresh', { refresh_token: refreshToken });
      t.is(refreshed.status, 200, refreshed.text);
      const tokens = tokensOf(refreshed.json());
      [accessToken, refreshToken] = [textOf(tokens, 'access_token'), textOf(tokens, 'refresh_token')];
      // Then the service is ready, and reads what it writes
      const headers = { authorization: `Bearer ${accessToken}` };
      t.is((await fetch(`${service.url}/readyz`)).status, 200);
      const name = `Launch ${names.length}`;
      t.is((await client.post('/api/v1/projects', { name }, headers)).status, 201);
      names.push(name);
      const listed = (await client.get('/api/v1/projects', headers)).json()['items'];
      t.deepEqual(Array.isArray(listed) && listed.map((item) => asObject(item)['name']).sort(), names);
      const signedIn = await client.post('/api/v1/auth/login', { email: 'ada@example.org', password });
      t.is(signedIn.status, 200, signedIn.text);
    }
    t.is(await service.stop(), 0);
  });
}

test('A limit that was reached before the clock was set back an hour ends after its own period', async (t) => {
  const { client, set } = await given(t);
  const ask = async (): Promise<number> =>
    (await client.get('/api/v1/internal/peer-list', { 'x-agent-secret': 'a wrong secret of agents' })).status;
  // Given a client that has reached a limit while the clock was ahead
  await set(hourMs);
  await eventually('the limit is reached', async () => (await ask()) === 429);
  // When the clock is set back, then the client waits for one period of 4 s at most, and for no hour
  await set(0);
  const status = await eventually('the limit ends', async () => {
    const asked = await ask();
    return asked !== 429 && asked;
  });
  t.is(status, 401);
});

/** The reply of a refresh has the tokens in `data`, or in `data.tokens`. */
function tokensOf(reply: Parameters<typeof asObject>[0]) {
  const data = asObject(asObject(reply)['data']);
  return data['tokens'] === undefined ? data : asObject(data['tokens']);
}
