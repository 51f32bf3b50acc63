import { generateKeyPairSync } from 'node:crypto';
import fs, { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import { KeyDirectoryProblem } from '../../../../src/areas/payments/platforms/keys/key-directory.js';
import { makeWechatPayKeys } from '../../../../src/areas/payments/platforms/wechatpay/wechatpay-client.js';
import { arrivesAt } from './messages/messages.js';
import { givenKeyDirectory, readVectors } from './vectors/vectors.js';

const { keys: files, vectors, again } = readVectors('wechatpay');
const certificateSerial = vectors[0]?.headers['wechatpay-serial'] ?? '';
const publicKeyId = again[0]?.headers['wechatpay-serial'] ?? '';
const certificate = files['wechatpay_certificate.pem'] ?? '';
const publicKey = files[`${publicKeyId}.pem`] ?? '';
const later = (seconds: number) => new Date(arrivesAt.getTime() + seconds * 1_000);
const silent = (): void => undefined;

test('A certificate is found by its serial number, a public key by its file name', (t) => {
  const path = givenKeyDirectory(t, { ...files, 'PUB_KEY_ID_7.pem': certificate, 'README.txt': 'x' });
  const keys = makeWechatPayKeys(path, silent);
  t.not(keys(certificateSerial, arrivesAt), null);
  t.not(keys(publicKeyId, arrivesAt), null);
  for (const serial of [
    'PUB_KEY_ID_7',
    'wechatpay_certificate',
    '',
    '__proto__',
    certificateSerial.slice(1),
  ]) {
    t.is(keys(serial, arrivesAt), null, serial);
  }
});

test('A certificate is valid only in its period', (t) => {
  const keys = makeWechatPayKeys(givenKeyDirectory(t, files), silent);
  t.is(keys(certificateSerial, new Date('2024-12-31T00:00:00Z')), null);
  t.is(keys(certificateSerial, new Date('2030-01-02T00:00:00Z')), null);
});

test('Keys follow added and removed files within ten seconds', (t) => {
  const path = givenKeyDirectory(t, { 'one.pem': certificate });
  const keys = makeWechatPayKeys(path, silent);
  t.is(keys(publicKeyId, arrivesAt), null);
  writeFileSync(join(path, `${publicKeyId}.pem`), publicKey);
  t.is(keys(publicKeyId, later(9)), null);
  t.not(keys(publicKeyId, later(11)), null);
  t.not(keys(certificateSerial, later(11)), null);
  rmSync(join(path, 'one.pem'));
  t.is(keys(certificateSerial, later(22)), null);
  // A clock that is set back must not stop the checks.
  writeFileSync(join(path, 'two.pem'), certificate);
  t.not(keys(certificateSerial, later(-1_000)), null);
});

test('An invalid file is reported once, and the current keys stay in use', (t) => {
  const path = givenKeyDirectory(t, { 'one.pem': certificate });
  const reports: string[] = [];
  const keys = makeWechatPayKeys(path, (problem) => reports.push(problem));
  writeFileSync(join(path, 'one.pem'), 'half a ce');
  t.not(keys(certificateSerial, later(11)), null);
  t.not(keys(certificateSerial, later(22)), null);
  t.is(reports.length, 1);
  t.true(reports[0]?.includes('one.pem'));
  renameSync(path, `${path}-away`);
  t.teardown(() => rmSync(`${path}-away`, { recursive: true }));
  t.not(keys(certificateSerial, later(33)), null);
  t.true(reports[1]?.includes('ENOENT'));
});

test('A file that only its owner could read, and then the service, is read again', (t) => {
  const path = givenKeyDirectory(t, { 'one.pem': certificate });
  const reports: string[] = [];
  const keys = makeWechatPayKeys(path, (problem) => reports.push(problem));
  const file = join(path, `${publicKeyId}.pem`);
  const wrong = publicKey.replaceAll(/[a-z]/g, '*');
  writeFileSync(file, wrong);
  utimesSync(file, arrivesAt, arrivesAt);
  t.is(keys(publicKeyId, later(11)), null);
  t.is(reports.length, 1);
  // As `chmod` does, this changes neither the file's number, its size nor the time of its content.
  writeFileSync(file, publicKey);
  utimesSync(file, arrivesAt, arrivesAt);
  t.not(keys(publicKeyId, later(22)), null);
});

test('A file that could not be read for a moment is read again at the next check', (t) => {
  const path = givenKeyDirectory(t, { 'one.pem': certificate });
  const reports: string[] = [];
  const keys = makeWechatPayKeys(path, (problem) => reports.push(problem));
  // Given a new file, and a process without a free descriptor
  writeFileSync(join(path, `${publicKeyId}.pem`), publicKey);
  const { readFileSync } = fs;
  fs.readFileSync = () => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  };
  syncBuiltinESMExports();
  const found = keys(publicKeyId, later(11));
  fs.readFileSync = readFileSync;
  syncBuiltinESMExports();
  t.is(found, null);
  t.true(reports[0]?.includes('EMFILE'));
  // Then the next check reads it, though nothing has changed
  t.not(keys(publicKeyId, later(22)), null);
  t.is(reports.length, 1);
});

test('A directory without keys of the platform stops the start', (t) => {
  const { privateKey, publicKey: weak } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
  const wrong: readonly Readonly<Record<string, string>>[] = [
    {},
    { 'key.txt': certificate },
    { 'pub_key.pem': publicKey },
    { 'PUB_KEY_ID_.pem': publicKey },
    { 'PUB_KEY_ID_1.pem': '' },
    { 'PUB_KEY_ID_1.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
    { 'PUB_KEY_ID_1.pem': weak.export({ type: 'spki', format: 'pem' }).toString() },
    { 'PUB_KEY_ID_1.pem': publicKey + 'x'.repeat(70_000) },
    Object.fromEntries(Array.from({ length: 101 }, (_none, index) => [`PUB_KEY_ID_${index}.pem`, publicKey])),
  ];
  for (const content of wrong) {
    const path = givenKeyDirectory(t, content);
    const error = t.throws(() => makeWechatPayKeys(path, silent), { instanceOf: KeyDirectoryProblem });
    t.false(error.message.includes('PRIVATE'));
  }
  t.throws(() => makeWechatPayKeys('/nowhere/at/all', silent), { instanceOf: KeyDirectoryProblem });
});
