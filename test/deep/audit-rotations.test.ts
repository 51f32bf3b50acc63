import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { packageFile } from '../../src/package-files.js';
import type { RingOverview } from '../../src/keys/rings/key-rotation.js';
import { isSignedWith, startPollingAuditor } from '../support/audit/polling-auditor.js';
import {
  asObject,
  makeServiceClient,
  operate,
  type SignedIn,
  textOf,
  addTotp,
  recover,
} from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { givenService, givenDirectory } from '../support/servers/service-process.js';

/*
 * A real service whose audit key is rotated over its control socket, while an auditor polls over HTTP and users write.
 * DEEP_SEED=<printed> repeats the choices. DEEP_BUDGET multiplies the number of rotations.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const rotations = Math.max(2, Math.ceil(20 * budget));
const verifier = fileURLToPath(packageFile('dist/verify.js'));
const password = 'Correct-Horse-9';

test(`${rotations} rotations of the audit key let each polled checkpoint verify under the newest key of the auditor`, async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  // Given a service, a user who writes, and an auditor who polls
  const directory = givenDirectory(t);
  const service = await givenService(t, { directory });
  const random = makeSeededRandom(seed);
  const client = makeServiceClient(service.url);
  let writer = await client.register('writer@example.com', password);
  let reader = await client.register('auditor@example.com', password);
  await operate(directory, 'user verify', { email: 'auditor@example.com' });
  await operate(directory, 'platform-role grant', { email: 'auditor@example.com', role: 'auditor' });
  // Auditors need a second factor, which each sign-in passes by a recovery code.
  const recoveryCodes = [...(await addTotp(client, reader.headers))];
  const vkeys = async (): Promise<readonly string[]> =>
    asObject(await operate(directory, 'audit key', {}))['vkeys'] as readonly string[];
  const activeKid = async (): Promise<string> => {
    const { items } = asObject(await operate(directory, 'keys list', {}));
    const rings = items as readonly RingOverview[];
    return rings.find(({ ring }) => ring === 'audit')?.keys.find(({ active }) => active)?.kid ?? '';
  };
  const read = async (): Promise<string | null> => {
    const reply = await client.get('/audit/log/checkpoint', reader.headers);
    if (reply.status === 503) return null;
    if (reply.status !== 200) throw new Error(`the checkpoint was answered ${reply.status}: ${reply.text}`);
    return reply.text;
  };
  /** Signs in. A busy machine makes the service refuse calls for a moment. */
  const signIn = async (email: string): Promise<SignedIn> => {
    const found: SignedIn[] = [];
    const isIn = async (): Promise<boolean> => {
      try {
        found.push(await client.login(email, password));
      } catch (error) {
        if (!/answered 503/.test(String(error))) throw error;
      }
      return found.length > 0;
    };
    await eventually('a sign-in', isIn, { pollMs: 500 });
    const [session] = found;
    if (session === undefined) throw new Error('there is no session');
    return session;
  };
  const [first = ''] = await vkeys();
  // One read a second is far below the limits of the service.
  const auditor = startPollingAuditor(read, first, 1_000);
  t.teardown(() => auditor.stop());
  await eventually('a checkpoint', () => auditor.last() !== null);

  for (let turn = 0; turn < rotations; turn += 1) {
    // Access tokens live 10 minutes.
    if (turn % 10 === 9) {
      writer = await signIn('writer@example.com');
      reader = await signIn('auditor@example.com');
      await recover(client, reader.headers, recoveryCodes.pop() ?? '');
    }
    const old = await activeKid();
    // When a key is added while the log may grow, and the auditor gets its public key
    const known = await vkeys();
    const kid = textOf(asObject(await operate(directory, 'keys add', { ring: 'audit' })), 'kid');
    if (random() < 0.7) await client.post('/api/v1/projects', { name: `Film ${turn}` }, writer.headers);
    const [added = ''] = (await vkeys()).filter((vkey) => !known.includes(vkey));
    await eventually('a signature of the new key', () => isSignedWith(auditor.last(), added), { pollMs: 50 });
    auditor.tell(added);
    // Then the old key may go, as a leaked one: the clock of a real service does not wait for 30 days
    const refused = operate(directory, 'keys retire', { ring: 'audit', kid: old, force: false });
    await t.throwsAsync(refused, { message: /active key/ });
    await operate(directory, 'keys promote', { ring: 'audit', kid, now: true });
    const early = operate(directory, 'keys retire', { ring: 'audit', kid: old, force: false });
    await t.throwsAsync(early, { message: /not for 30 days/ });
    await operate(directory, 'keys retire', { ring: 'audit', kid: old, force: true });
  }

  const { problems, sizes, polls } = await auditor.stop();
  t.log({ rotations, polls, checkpoints: sizes.length });
  t.deepEqual(problems, []);
  t.true(sizes.length > rotations / 4);

  // And the program verifies the live log with the last key alone
  const files = givenDirectory(t);
  await client.post('/api/v1/projects', { name: 'The last one' }, writer.headers);
  const [last = ''] = await vkeys();
  writeFileSync(join(files, 'auditor.vkey'), `${last}\n`);
  writeFileSync(join(files, 'token'), `${reader.accessToken}\n`);
  const args = [
    ...[verifier, `${service.url}/audit/log`],
    ...['--key', join(files, 'auditor.vkey'), '--token', join(files, 'token')],
  ];
  const verdict = await new Promise<{ readonly code: unknown; readonly text: string }>((done) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : error.code, text: `${stdout}${stderr}` });
    });
  });
  t.is(verdict.code, 0, verdict.text);
});
