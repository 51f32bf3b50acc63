import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';

import {
  connectionLimits,
  driverWaits,
  mongoDbProblems,
  mongoDbWarnings,
  withReplyLimit,
} from '../../../src/stores/mongodb/connection-string.js';
import { defaultMongoDbLimits, readTryMs, writeTryMs } from '../../../src/stores/mongodb/calls/limits.js';
import { givenDirectory } from '../../support/directories.js';

test('A connection on this machine, and one with TLS, cause neither a problem nor a warning', (t) => {
  for (const url of [
    'mongodb://127.0.0.1:27017/',
    'mongodb://user:pass%40word@localhost/stowage?authSource=admin',
    'mongodb://[::1]:27017/',
    'mongodb://%2Ftmp%2Fmongodb-27017.sock/',
    'mongodb://user:password@db1.example.org,db2.example.org/stowage?replicaSet=rs0&tls=true',
    'mongodb://db.example.org/?ssl=true',
    'mongodb+srv://user:password@cluster.example.org/stowage',
  ]) {
    t.deepEqual(mongoDbProblems(url), [], url);
    t.deepEqual(mongoDbWarnings(url), [], url);
  }
});

test('A plain connection beyond this machine is a warning', (t) => {
  for (const url of [
    'mongodb://db.example.org:27017/stowage',
    'mongodb://127.0.0.1,db.example.org/',
    'mongodb://127.evil.example.org/',
    'mongodb://user:localhost@db.example.org/',
    'mongodb+srv://cluster.example.org/?tls=false',
  ]) {
    t.deepEqual(
      mongoDbWarnings(url),
      [
        'MONGODB_URL leads beyond this machine without TLS: others on the network can read and change all data; add tls=true',
      ],
      url,
    );
  }
});

test('A connection that verifies no certificate is a warning that names the option', (t) => {
  for (const option of ['tlsInsecure', 'tlsAllowInvalidCertificates', 'tlsAllowInvalidHostnames']) {
    const [warning, ...others] = mongoDbWarnings(`mongodb://db.example.org/?tls=true&${option}=true`);
    t.is(
      warning,
      `MONGODB_URL has ${option}=true: the server's certificate is not verified, so another server can take its place; remove it and name the authority with tlsCAFile`,
    );
    t.deepEqual(others, []);
  }
});

test('A certificate file that cannot be read is a problem that names the option', (t) => {
  const directory = givenDirectory(t);
  const file = join(directory, 'ca.pem');
  const url = `mongodb://db.example.org/?tls=true&tlsCAFile=${encodeURIComponent(file)}`;
  t.deepEqual(mongoDbProblems(url), [
    'has tlsCAFile, which names a file that cannot be read; check the path and its rights',
  ]);
  writeFileSync(file, '');
  t.deepEqual(mongoDbProblems(url), []);
});

test('A mechanism of authentication that needs other packages is a problem', (t) => {
  t.deepEqual(mongoDbProblems('mongodb://db.example.org/?tls=true&authMechanism=MONGODB-AWS'), [
    'has authMechanism=MONGODB-AWS, which this service does not contain; use SCRAM-SHA-256 or MONGODB-X509',
  ]);
});

test('The size of the pool follows the URL, and is 20 without one', (t) => {
  const limits = (query: string) => connectionLimits(`mongodb://localhost/?${query}`, defaultMongoDbLimits);
  t.deepEqual(limits(''), { poolSize: 20, permitWaitMs: 2_000, silenceMs: 5_000 });
  t.is(limits('maxPoolSize=64').poolSize, 64);
  t.is(limits('maxpoolsize=5').poolSize, 5);
  for (const size of ['0', '-1', 'many', '100000'])
    t.deepEqual(mongoDbProblems(`mongodb://localhost/?maxPoolSize=${size}`), [
      'has maxPoolSize, which must be a whole number from 1 to 99999',
    ]);
});

test('A limit of the URL that is no whole number is refused by its name', (t) => {
  for (const name of ['waitQueueTimeoutMS', 'socketTimeoutMS', 'timeoutMS', 'connectTimeoutMS']) {
    for (const value of ['abc', '-5', '500ms', ''])
      t.deepEqual(
        mongoDbProblems(`mongodb://localhost/?${name}=${value}`),
        [`has ${name}, which must be a whole number of milliseconds`],
        value,
      );
    t.deepEqual(mongoDbProblems(`mongodb://localhost/?${name}=0`), []);
  }
});

test('A limit of the URL shortens a limit of the service, and never lengthens it', (t) => {
  const limits = (query: string) => connectionLimits(`mongodb://localhost/?${query}`, defaultMongoDbLimits);
  t.like(limits('waitQueueTimeoutMS=300&socketTimeoutMS=2000'), { permitWaitMs: 300, silenceMs: 2_000 });
  t.like(limits('waitQueueTimeoutMS=60000&socketTimeoutMS=0'), { permitWaitMs: 2_000, silenceMs: 5_000 });
});

test('The limit of the URL for a reply shortens the attempts, and never lengthens them', (t) => {
  const tries = (query: string) => {
    const url = `mongodb://localhost/?${query}`;
    const limits = withReplyLimit(url, defaultMongoDbLimits);
    return [readTryMs(limits), writeTryMs(limits), connectionLimits(url, limits).silenceMs];
  };
  t.deepEqual(tries(''), [1_000, 2_000, 5_000]);
  t.deepEqual(tries('socketTimeoutMS=500'), [500, 500, 500]);
  t.deepEqual(tries('timeoutMS=1500'), [1_000, 1_500, 1_500]);
  t.deepEqual(tries('timeoutMS=700&sockettimeoutms=600'), [600, 600, 600]);
  t.deepEqual(tries('socketTimeoutMS=0&timeoutMS=60000'), [1_000, 2_000, 5_000]);
});

test('The waits of the driver follow the URL, and end before an attempt', (t) => {
  const waits = (query: string) => driverWaits(`mongodb://localhost/?${query}`, defaultMongoDbLimits);
  t.deepEqual(waits(''), { selectionMs: 800, connectMs: 5_000 });
  t.deepEqual(waits('serverSelectionTimeoutMS=300&connectTimeoutMS=1000'), {
    selectionMs: 300,
    connectMs: 1_000,
  });
  t.deepEqual(waits('serverSelectionTimeoutMS=30000&connectTimeoutMS=30000'), {
    selectionMs: 800,
    connectMs: 5_000,
  });
  t.deepEqual(waits('socketTimeoutMS=500'), { selectionMs: 400, connectMs: 5_000 });
});
