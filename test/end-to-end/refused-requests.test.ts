import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { asObject, makeServiceClient, type SignedIn, textOf } from '../support/clients/service-client.js';
import { freePort, makeDataDirectory, startService } from '../support/servers/service-process.js';
import type { RawReply } from '../support/clients/http-replies.js';
import { changeStates, sendInState, type Sent } from '../support/simulation/raw/change-states.js';

const password = 'Correct-Horse-7';
const unlimited = { limit: 1_000_000, seconds: 60 };
const states = Object.keys(changeStates);

test('A change that is refused on any of 1,000 connections in 40 states is not made, under load, after a stop of 7 s and at shutdown', async (t) => {
  // Given users of a service, who may make 100 projects each
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const limitsFile = join(directory.path, 'limits.json');
  await writeFile(limitsFile, JSON.stringify({ session: unlimited, user: unlimited, register: unlimited }));
  const environment = { LIMITS_FILE: limitsFile, LOG_LEVEL: 'warn' };
  const start = { directory: directory.path, port: await freePort(), environment };
  const service = await startService(start);
  t.teardown(() => service.kill());
  const client = makeServiceClient(service.url);
  const users: SignedIn[] = [];
  for (let n = 0; n < 16; n += 1) users.push(await client.register(`ada${n}@example.org`, password));
  let made = 0;
  const next = () => {
    made += 1;
    return { name: `project ${made}`, token: users[made % users.length]?.accessToken ?? '' };
  };
  const round = (each: number): Promise<readonly Sent[]> =>
    Promise.all(
      states.flatMap((state) => Array.from({ length: each }, () => sendInState(start.port, state, next))),
    );

  // When connections in each state send a change under load, around a stop of the process, and at its end
  t.is(states.length, 40);
  const loaded = await round(9);
  const stopped = round(8);
  await wait(500);
  service.signal('SIGSTOP');
  await wait(7_000);
  service.signal('SIGCONT');
  const after = await stopped;
  const ending = round(8);
  await wait(1_000);
  const ended = service.stop();
  const sent = [...loaded, ...after, ...(await ending)];
  t.is(await ended, 0);

  // Then none that is refused is made, none behind a reply that closes is, and each acknowledged one is made once
  const again = await startService(start);
  t.teardown(() => again.kill());
  const names: string[] = [];
  for (const { headers } of users) {
    const { items } = (await client.get('/api/v1/projects?limit=100', headers)).json();
    for (const item of items as unknown[]) names.push(textOf(asObject(item), 'name'));
  }
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  t.deepEqual(problemsOf(sent, counts), []);
  t.is(sent.length, 1_000);
  // and the first request on a connection is served after 7 s of silence
  const silent = statusesOf(loaded, 'after 7 s of silence');
  // The process may be too busy.
  t.true(silent.includes(201) && silent.every((status) => status === 201 || status === 503), String(silent));
  t.true(statusesOf(loaded, 'with half a head for 12 s').includes(408));
});

function problemsOf(sent: readonly Sent[], counts: ReadonlyMap<string, number>): readonly string[] {
  return sent.flatMap(({ state, requests }) => {
    const closesAt = requests.findIndex(({ reply }) => reply?.headers.get('connection') === 'close');
    return requests.flatMap(({ name, reply }, index) => {
      const count = counts.get(name ?? '') ?? 0;
      const isBehind = closesAt >= 0 && index > closesAt;
      const [least, most] = isBehind ? [0, 0] : boundsOf(reply);
      const isRight = name === null || (count >= least && count <= most);
      return isRight ? [] : [`${state}: made ${count} times after ${reply?.status} ${reply?.text}`];
    });
  });
}

/** How many times a change may have been made that got a reply, or none. */
function boundsOf(reply: RawReply | null): readonly [number, number] {
  if (reply?.status === 201) return [1, 1];
  return reply === null || reply.text.includes('outcome_unknown') ? [0, 1] : [0, 0];
}

function statusesOf(sent: readonly Sent[], state: string): readonly (number | undefined)[] {
  return sent
    .filter((one) => one.state === state)
    .flatMap(({ requests }) => requests.map(({ reply }) => reply?.status));
}
