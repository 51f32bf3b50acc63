import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { ringNames } from '../../src/keys/key-file-format.js';
import { asObject, makeServiceClient, operate, textOf } from '../support/service-client.js';
import { freePort, makeDataDirectory, runCli, startService } from '../support/service-process.js';

/** The id of the key that a token was signed with. */
function kidOf(token: string): string {
  const header = Buffer.from(token.split('.')[0] ?? '', 'base64url').toString();
  return textOf(asObject(JSON.parse(header)), 'kid');
}

test('keys are rotated on the command line while the service runs, and are at work at once', async (t) => {
  // Given a service with somebody signed in
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const service = await startService({ directory: directory.path, port: await freePort() });
  t.teardown(() => service.kill());
  const client = makeServiceClient(service.url);
  const ada = await client.register('ada@example.org', 'Correct-Horse-7');
  const keyFile = join(directory.path, 'keys.json');
  const keysOf = (text: string): string[] =>
    [...text.matchAll(/"(?:[A-Za-z0-9-]+:)?([A-Za-z0-9_-]{43})"/g)].map(([, key]) => key ?? '');
  const everyKey = new Set(keysOf(readFileSync(keyFile, 'utf8')));
  const outputs: string[] = [];
  const run = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
    const result = await runCli(directory.path, ['keys', ...args]);
    outputs.push(result.stdout, result.stderr);
    for (const key of keysOf(readFileSync(keyFile, 'utf8'))) everyKey.add(key);
    return result;
  };
  const kidIn = (output: string): string => textOf(asObject(JSON.parse(output)), 'kid');

  // When a key is added, then it is published at once, for less time than it waits to sign
  const jwt = kidIn((await run('add', 'jwt')).stdout);
  const published = await client.get('/.well-known/jwks.json');
  t.is(published.headers.get('cache-control'), 'public, max-age=30');
  t.deepEqual(
    (published.json()['keys'] as { kid: string }[]).map(({ kid }) => kid),
    [kidOf(ada.accessToken), jwt],
  );
  const early = await run('promote', 'jwt');
  t.is(early.code, 1);
  t.regex(early.stderr, /^stowage: it was added \d s ago; .*--now promotes it all the same \(too_early\)\n$/);

  // When it is promoted, then it signs, and tokens of before are still good
  t.is((await run('promote', 'jwt', '--now')).code, 0);
  const bea = await client.register('bea@example.org', 'Correct-Horse-7');
  t.is(kidOf(bea.accessToken), jwt);
  for (const { headers } of [ada, bea]) t.is((await client.get('/api/v1/auth/me', headers)).status, 200);

  // When the master key is rotated, then every data key is wrapped with the new one
  const master = textOf(asObject(await operate(directory.path, 'keys add', { ring: 'master' })), 'kid');
  await operate(directory.path, 'keys promote', { ring: 'master', kid: master, now: true });
  t.deepEqual(JSON.parse((await run('rewrap')).stdout), {
    rewrapped: 2,
    unreadable: 0,
    data_keys: { [master]: 2 },
  });
  t.like((await client.get('/api/v1/auth/me', ada.headers)).json(), { data: { email: 'ada@example.org' } });

  // When the old key is retired, then only by force, and its tokens are good no more
  const needed = await run('retire', 'jwt', kidOf(ada.accessToken));
  t.regex(needed.stderr, /is still needed: .*10 minutes; --force retires it \(still_needed\)\n$/);
  t.is((await run('retire', 'jwt', kidOf(ada.accessToken), '--force')).code, 0);
  t.is((await client.get('/api/v1/auth/me', ada.headers)).status, 401);
  t.is((await client.get('/api/v1/auth/me', bea.headers)).status, 200);

  // Then the overview names rings and ids, the log every change, and neither any key
  const listed = asObject(JSON.parse((await run('list')).stdout))['items'];
  t.deepEqual(
    (listed as { ring: string; keys: { active: boolean }[] }[]).map(({ ring, keys }) => [
      ring,
      keys.map(({ active }) => active),
    ]),
    ringNames.map((ring) => [ring, ring === 'master' ? [true, false] : [true]]),
  );
  await t.throwsAsync(operate(directory.path, 'keys add', { ring: 'nothing' }), {
    message: /^ring: must be one of jwt, master/,
  });
  t.is(statSync(keyFile).mode & 0o777, 0o600);
  t.is(await service.stop(), 0);
  const changes = service.output().match(/"ring":"[^}]*"a key was [a-z]+"/g);
  t.deepEqual(changes, [
    `"ring":"jwt","kid":"${jwt}","msg":"a key was added"`,
    `"ring":"jwt","kid":"${jwt}","msg":"a key was promoted"`,
    `"ring":"master","kid":"${master}","msg":"a key was added"`,
    `"ring":"master","kid":"${master}","msg":"a key was promoted"`,
    `"ring":"jwt","kid":"${kidOf(ada.accessToken)}","msg":"a key was retired"`,
  ]);

  // Nor when no service runs and the command opens the stores itself, whose output is its result alone
  t.like(JSON.parse((await run('rewrap')).stdout), { rewrapped: 0, data_keys: { [master]: 2 } });
  t.is(everyKey.size, 9);
  for (const key of everyKey) {
    t.false([...outputs, service.output()].some((text) => text.includes(key)));
  }
});
