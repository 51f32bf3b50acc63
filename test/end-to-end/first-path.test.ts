import test from 'ava';
import { freePort, runCli, startService, givenDirectory } from '../support/servers/service-process.js';

type Json = Record<string, unknown>;

const agentSecret = 'the-agents-secret';
const secretKey = 'canary-secret-key-7f3a';
const password = 'canary-Password-41';

test('A user registers, creates a project, binds a storage and reads it again after kill -9', async (t) => {
  // Given a served process on an empty data directory
  const directory = givenDirectory(t);
  const port = await freePort();
  const environment = { NODE_AGENT_SECRET: agentSecret };
  const service = await startService({ directory, port, environment });
  const api = `${service.url}/api/v1`;
  const post = (path: string, body: Json, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${api}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  // When a user registers
  const registered = await post('/auth/register', { email: 'Ada@Example.org', password });
  t.is(registered.status, 201);
  const { data } = (await registered.json()) as { data: { user: Json; tokens: { access_token: string } } };
  t.is(data.user['nickname'], 'Ada');
  t.is(data.user['capacity_bytes'], 1_073_741_824);
  const session = { authorization: `Bearer ${data.tokens.access_token}` };
  t.is((await post('/auth/register', { email: 'ada@example.ORG', password })).status, 409);

  // and creates a project
  const project = (await (await post('/projects', { name: 'Film' }, session)).json()) as {
    id: string;
    role: string;
  };
  t.is(project.role, 'owner');
  const storages = `/projects/${project.id}/storages`;
  const storage = {
    name: 'Rushes',
    provider: 's3',
    bucket: 'rushes',
    region: 'eu-central-1',
    credentials: { access_key: 'AKIAEXAMPLE', secret_key: secretKey },
  };

  // Then a storage needs the entitlement, which the operator grants while the service runs
  const refused = await post(storages, storage, session);
  t.is(refused.status, 403);
  t.is(((await refused.json()) as Json)['code'], 'entitlement_required');
  const grant = await runCli(directory, ['project', 'grant', project.id, 'allow_s3']);
  t.is(grant.code, 0, `the command line said: ${grant.stderr}`);
  const bound = await post(storages, storage, session);
  const boundText = await bound.text();
  t.is(bound.status, 201, `the reply was: ${boundText}`);
  t.false(boundText.includes(secretKey) || boundText.includes('AKIAEXAMPLE'));
  const configuration = JSON.parse(boundText) as Json & { id: string };
  t.is(configuration['status'], 'pending');
  t.true(configuration['has_credentials']);

  // until the operator revokes it; bound storages stay
  const revoke = ['project', 'revoke', project.id, 'allow_s3', '--json'];
  const revoked = await runCli(directory, revoke);
  t.deepEqual(
    { code: revoked.code, result: JSON.parse(revoked.stdout) as unknown },
    { code: 0, result: { project_id: project.id, entitlement: 'allow_s3', held_by: [] } },
    `the command line said: ${revoked.stderr}`,
  );
  t.is((await post(storages, storage, session)).status, 403);

  // and the storage is read, and agents list their peers
  const added = await runCli(directory, ['node', 'add', '--name', 'edge-1', '--address', '192.0.2.10']);
  t.is(added.code, 0, `the command line said: ${added.stderr}`);
  const readAll = async (): Promise<{ readonly storage: unknown; readonly peers: unknown }> => {
    const got = await fetch(`${api}${storages}/${configuration.id}`, { headers: session });
    const peers = await fetch(`${api}/internal/peer-list`, { headers: { 'x-agent-secret': agentSecret } });
    t.deepEqual([got.status, peers.status], [200, 200]);
    return { storage: await got.json(), peers: await peers.json() };
  };
  const before = await readAll();
  t.deepEqual(before.storage, configuration);
  t.like(before.peers, { items: [{ name: 'edge-1', ip_address: '192.0.2.10', node_type: 'normal' }] });

  // When the process is killed and started again, then the reads return the same
  await service.kill();
  const again = await startService({ directory, port, environment });
  t.deepEqual(await readAll(), before);
  t.is(await again.stop(), 0);
  for (const secret of [secretKey, password, agentSecret, data.tokens.access_token]) {
    t.false(again.output().includes(secret) || service.output().includes(secret), 'a secret in the log');
  }
});
