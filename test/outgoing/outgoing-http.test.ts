import { createServer, type RequestListener } from 'node:http';
import { createServer as createRawServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { makeStorageHttp } from '../../src/composition/opening/storage-http.js';
import { makeAllowedAddress } from '../../src/outgoing/addresses.js';
import {
  makeOutgoingHttp,
  OutgoingError,
  type OutgoingFailure,
  type OutgoingHttp,
} from '../../src/outgoing/outgoing-http.js';
import type { Lookup } from '../../src/outgoing/shared-lookup.js';
import { eventually } from '../support/eventually.js';
import { listen } from '../support/servers/loopback.js';
import { makePatientHttp, patientMs } from '../support/clients/patient-http.js';

const isAllowed = makeAllowedAddress([]);

async function givenServer(t: ExecutionContext, listener: RequestListener): Promise<number> {
  return listen(t, createServer(listener));
}

async function failsAs(
  t: ExecutionContext,
  http: OutgoingHttp,
  url: string,
  failure: OutgoingFailure,
): Promise<void> {
  const error = await t.throwsAsync(http({ method: 'GET', url }), { instanceOf: OutgoingError }, url);
  t.is(error.failure, failure, url);
}

const loopback = makeAllowedAddress(['127.0.0.0/8']);

/** Makes a look-up that returns the given addresses. */
const answering =
  (...addresses: readonly string[]): Lookup =>
  (_hostname, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };

const forbiddenHosts = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '169.254.0.23',
  '169.254.170.2',
  '169.254.170.23',
  '0251.0376.0251.0376',
  '168.63.129.16',
  '0xa83f8110',
  '100.64.0.1',
  '100.100.100.200',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001::1]',
  '[::127.0.0.1]',
  '[::a9fe:a9fe]',
  '[::ffff:0:10.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[::2]',
  '[100::1]',
  '[4000::1]',
  '[5f00::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fe80::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '１２７.0.0.1',
  '127。0。0。1',
];

test(`The guard refuses ${forbiddenHosts.length} spellings of forbidden addresses before it connects`, async (t) => {
  const port = await givenServer(t, () => t.fail('the client connected to the address'));
  const http = makePatientHttp({ isAllowed, lookup: answering('127.0.0.1') });
  for (const host of forbiddenHosts) {
    await failsAs(t, http, `http://${host}:${port}/`, 'address_refused');
  }
});

test('A name that resolves to a forbidden address is refused, even among allowed ones', async (t) => {
  for (const answers of [
    ['127.0.0.1'],
    ['169.254.169.254'],
    ['100.100.100.200'],
    ['93.184.215.14', '10.0.0.1'],
    ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', '::1'],
    ['::ffff:10.0.0.1'],
    ['64:ff9b::a00:1'],
    ['::a00:1'],
    ['168.63.129.16'],
    [],
  ]) {
    const http = makePatientHttp({ isAllowed, lookup: answering(...answers) });
    await failsAs(t, http, 'http://storage.example.com/', 'address_refused');
  }
});

test('A name that changes its address is judged by the address that the client connects to', async (t) => {
  const port = await givenServer(t, (_request, response) => response.end('inside'));
  let asked = 0;
  const rebinding: Lookup = (_hostname, callback) => {
    asked += 1;
    callback(null, [{ address: asked === 1 ? '93.184.215.14' : '127.0.0.1', family: 4 }]);
  };
  const http = makeOutgoingHttp({ isAllowed, lookup: rebinding, timeMs: 300 });
  // The client connects to the first answer, where no server listens, and never to the second.
  await t.throwsAsync(http({ method: 'GET', url: `http://storage.example.com:${port}/` }));
  t.is(asked, 1);
});

test('The client speaks to an address that the operator has allowed', async (t) => {
  const port = await givenServer(t, (request, response) => {
    response.setHeader('x-seen', `${request.method ?? ''} ${request.headers.host ?? ''}`);
    response.end('the body');
  });
  const literal = makePatientHttp({ isAllowed: loopback });
  const reply = await literal({ method: 'GET', url: `http://127.0.0.1:${port}/a?b` });
  t.is(reply.status, 200);
  t.is(reply.body.toString(), 'the body');
  t.is(reply.headers['x-seen'], `GET 127.0.0.1:${port}`);
  const named = makePatientHttp({ isAllowed: loopback, lookup: answering('127.0.0.1') });
  const byName = await named({
    method: 'PUT',
    url: `http://minio.internal:${port}/`,
    body: Buffer.from('x'),
  });
  t.is(byName.headers['x-seen'], `PUT minio.internal:${port}`);
});

test('No allow-list opens a metadata service', (t) => {
  const everything = makeAllowedAddress(['0.0.0.0/0', '::/0']);
  t.true(everything('10.0.0.1'));
  for (const address of [
    '169.254.169.254',
    '169.254.170.23',
    '168.63.129.16',
    '100.100.100.200',
    '::ffff:169.254.169.254',
    '::a9fe:a9fe',
    '::ffff:0:a9fe:a9fe',
    '64:ff9b::a83f:8110',
    '2002:a9fe:a9fe::1',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
  ]) {
    t.false(everything(address), address);
  }
});

test('Public addresses pass without an allow-list', (t) => {
  for (const address of ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '64:ff9b::5db8:d70e']) {
    t.true(isAllowed(address), address);
  }
  t.false(isAllowed('not an address'));
});

test('A redirection is returned and not followed', async (t) => {
  const port = await givenServer(t, (request, response) => {
    if (request.url !== '/') t.fail('the redirection was followed');
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  const { status } = await makePatientHttp({ isAllowed: loopback })({
    method: 'GET',
    url: `http://127.0.0.1:${port}/`,
  });
  t.is(status, 302);
});

test('The client keeps 64 KiB of a long reply', async (t) => {
  const port = await givenServer(t, (_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
    };
    response.on('drain', more);
    more();
  });
  const { body } = await makePatientHttp({ isAllowed: loopback })({
    method: 'GET',
    url: `http://127.0.0.1:${port}/`,
  });
  t.is(body.length, 65_536);
});

test('Every request ends within its time limit', async (t) => {
  const silent = await listen(
    t,
    createRawServer((socket) => t.teardown(() => socket.destroy())),
  );
  const slow = await givenServer(t, (_request, response) => {
    response.write('a');
    const drip = setInterval(() => response.write('a'), 20);
    response.on('close', () => clearInterval(drip));
  });
  const http = makeOutgoingHttp({ isAllowed: loopback, timeMs: 200 });
  await failsAs(t, http, `http://127.0.0.1:${silent}/`, 'connection_timeout');
  await failsAs(t, http, `http://127.0.0.1:${slow}/`, 'connection_timeout');
});

test('Each failure has a distinct code', async (t) => {
  const rude = await listen(
    t,
    createRawServer((socket) => socket.destroy()),
  );
  const babbling = await listen(
    t,
    createRawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')),
  );
  const switching = await listen(
    t,
    createRawServer((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      t.teardown(() => socket.destroy());
    }),
  );
  const closed = await listen(t, createRawServer());
  const gone = createRawServer();
  const free = await listen(t, gone);
  gone.close();
  const http = makePatientHttp({ isAllowed: loopback });
  await failsAs(t, http, `http://127.0.0.1:${rude}/`, 'connection_failed');
  await failsAs(t, http, `http://127.0.0.1:${babbling}/`, 'not_http');
  // A call that never settles would keep its permit until the process ends.
  await failsAs(t, http, `http://127.0.0.1:${switching}/`, 'not_http');
  await failsAs(t, http, `https://127.0.0.1:${babbling}/`, 'tls_failed');
  await failsAs(t, http, `http://127.0.0.1:${free}/`, 'connection_refused');
  t.not(closed, free);
  const failing =
    (code: string): Lookup =>
    (hostname, callback) =>
      callback(Object.assign(new Error(`${code} ${hostname}`), { code }), []);
  for (const [code, failure] of [
    ['ENOTFOUND', 'host_not_found'],
    ['EAI_AGAIN', 'host_not_resolved'],
  ] as const) {
    const nowhere = makePatientHttp({ isAllowed: loopback, lookup: failing(code) });
    await failsAs(t, nowhere, 'http://nowhere.example/', failure);
  }
});

test('A server that switches the protocol and resets the connection ends no process', async (t) => {
  // Given a server that switches the protocol
  const opened: Socket[] = [];
  const port = await listen(
    t,
    createRawServer((socket) => {
      opened.push(socket.on('error', () => undefined));
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
      });
    }),
  );
  const http = makePatientHttp({ isAllowed: loopback });
  // When it resets each connection after the call has failed
  for (let round = 0; round < 5; round += 1) {
    await failsAs(t, http, `http://127.0.0.1:${port}/`, 'not_http');
    opened.at(-1)?.resetAndDestroy();
  }
  // Then no connection is left, and no error without a listener
  await eventually('all connections have ended', () => opened.every(({ closed }) => closed));
});

test('The caller may abort a request', async (t) => {
  const silent = await listen(
    t,
    createRawServer((socket) => t.teardown(() => socket.destroy())),
  );
  const signal = AbortSignal.timeout(50);
  const http = makePatientHttp({ isAllowed: loopback });
  await t.throwsAsync(http({ method: 'GET', url: `http://127.0.0.1:${silent}/` }, signal));
});

test('Without TLS, a name connects only to addresses that are allowed without it', async (t) => {
  const port = await givenServer(t, (_request, response) => response.end('inside'));
  const inside = makeStorageHttp(['127.0.0.0/8'], { lookup: answering('127.0.0.1'), timeMs: patientMs });
  const { body } = await inside({ method: 'GET', url: `http://minio:${port}/` });
  t.is(body.toString(), 'inside');
  // A public address needs TLS, alone, beside an allowed one, and as a literal
  for (const answers of [
    ['93.184.215.14'],
    ['127.0.0.1', '93.184.215.14'],
    ['10.0.0.1'],
    ['169.254.169.254'],
  ]) {
    const http = makeStorageHttp(['127.0.0.0/8', '169.254.0.0/16'], { lookup: answering(...answers) });
    await failsAs(t, http, `http://minio:${port}/`, 'address_refused');
  }
  await failsAs(t, inside, 'http://93.184.215.14/', 'address_refused');
});
