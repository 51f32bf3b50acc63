import test from 'ava';
import { eventually } from '../support/eventually.js';
import { makeAgentSecretFiles } from '../support/servers/agent-secret-files.js';
import { givenDirectory, givenService } from '../support/servers/service-process.js';

test('A process reads the secrets of agents from their files again, for an unknown secret and on SIGHUP', async (t) => {
  const directory = givenDirectory(t);
  const { current, previous, environment, write } = makeAgentSecretFiles(directory);
  write(current, 'the-first-agent-secret');
  write(previous, '');
  const service = await givenService(t, { directory, environment });
  const ask = async (secret: string): Promise<number> => {
    const headers = { 'x-agent-secret': secret };
    const reply = await fetch(`${service.url}/api/v1/internal/peer-list`, { headers });
    await reply.arrayBuffer();
    return reply.status;
  };
  t.is(await ask('the-first-agent-secret'), 200);
  // When the secret is rotated, then both are accepted at once
  write(previous, 'the-first-agent-secret');
  write(current, 'the-second-agent-secret');
  t.is(await ask('the-second-agent-secret'), 200);
  t.is(await ask('the-first-agent-secret'), 200);
  // and a secret that is too short is a problem in the log, and changes nothing
  write(previous, 'short');
  service.signal('SIGHUP');
  await eventually('the log names the problem', () =>
    service.output().includes('NODE_AGENT_SECRET_PREVIOUS must have at least 16 characters'),
  );
  t.is(await ask('the-first-agent-secret'), 200);
  // and the former one is refused once it is removed
  write(previous, '');
  service.signal('SIGHUP');
  await eventually('the former secret is refused', async () => (await ask('the-first-agent-secret')) === 401);
  t.is(await ask('the-second-agent-secret'), 200);
  t.false(service.output().includes('the-second-agent-secret'), 'no secret is in the output');
});
