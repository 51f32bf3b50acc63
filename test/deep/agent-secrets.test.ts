import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { makeAgentSecretFiles } from '../support/servers/agent-secret-files.js';
import { givenService, givenDirectory } from '../support/servers/service-process.js';

const budget = Number(process.env['DEEP_BUDGET'] ?? '1');

test('50 rotations of the secret under 200 polling agents make no wrong 401, and the old secret ends within 31 s', async (t) => {
  const directory = givenDirectory(t);
  const { current, previous, environment, write } = makeAgentSecretFiles(directory);
  const secretOf = (n: number): string => `the agent secret number ${n}`;
  write(current, secretOf(0));
  write(previous, '');
  const service = await givenService(t, {
    directory,
    environment: { ...environment, MAX_CONNECTIONS_PER_CLIENT: '1000' },
  });
  const ask = async (secret: string): Promise<number> => {
    const headers = { 'x-agent-secret': secret };
    const reply = await fetch(`${service.url}/api/v1/internal/peer-list`, { headers });
    await reply.arrayBuffer();
    return reply.status;
  };

  let [newest, stopped] = [0, false];
  const wrong: string[] = [];
  /** The number of the secret that an agent was last admitted with. */
  const admitted = new Map<number, number>();
  const poll = async (agent: number): Promise<void> => {
    while (!stopped) {
      const held = newest;
      const status = await ask(secretOf(held));
      if (status === 200) admitted.set(agent, held);
      else wrong.push(`agent ${agent}, secret ${held} of ${newest}: ${status}`);
      await wait(200 + 3 * agent);
    }
  };
  const agents = Array.from({ length: 200 }, (_, agent) => poll(agent));
  const all = async (): Promise<void> => {
    while (admitted.size < 200 || [...admitted.values()].some((held) => held < newest)) {
      if (wrong.length > 0) return;
      await wait(20);
    }
  };
  for (let n = 1; n <= 50 * budget && wrong.length === 0; n += 1) {
    await all();
    write(previous, secretOf(n - 1));
    write(current, secretOf(n));
    newest = n;
  }
  await all();
  stopped = true;
  await Promise.all(agents);
  t.deepEqual(wrong, []);

  // When the previous secret is removed, then no request and no signal is needed to end it
  write(previous, '');
  await wait(31_000);
  t.is(await ask(secretOf(newest - 1)), 401);
  t.is(await ask(secretOf(newest)), 200);
});
