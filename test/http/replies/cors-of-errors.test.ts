import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { Overloaded } from '../../../src/kit/semaphore.js';
import { agentAccess, publicAccess } from '../../../src/http/access/access.js';
import { type Route } from '../../../src/http/route.js';
import { headOf } from '../../../src/http/server/raw-route.js';
import { startTestHttp } from '../../support/clients/http-app.js';
import { openConnection, sendRaw } from '../../support/clients/http-socket.js';
import { eventually } from '../../support/eventually.js';
import { testRoute } from '../../support/clients/test-route.js';

const shop = 'https://shop.example.com';
const thing = z.strictObject({ name: z.string() });
const replies = { 200: { description: 'It.', schema: thing } };

function routesBelow(base: `/${string}`): Route[] {
  // The gate of agents refuses before the handler does. What is tested here comes before the gate, or is the same for both.
  const access = base.startsWith('/internal') ? agentAccess : publicAccess;
  return [
    testRoute(`POST ${base}/things`, {
      ...{ access, replies, request: { body: thing } },
      handler: ({ body }) => ({ status: 200, body }),
    }),
    testRoute(`GET ${base}/busy`, {
      ...{ access, replies },
      handler: () => {
        throw new Overloaded('a queue is full');
      },
    }),
  ];
}

const areas = ['/api/v1', '/internal/v1', '/api/v1/internal', '/api/v1/admin', '/admin'] as const;
const isOpen = (area: string): boolean => area === '/api/v1';

const host = `Host: a\r\nOrigin: ${shop}\r\n`;
const close = 'Connection: close\r\n\r\n';
const json = 'Content-Type: application/json\r\n';

/** Requests that fail early, with their statuses in the open area. The gate may answer 401 in a closed one. */
const early: readonly (readonly [what: string, bytes: (area: string) => string, status: number])[] = [
  ['malformed percent-encoding', (area) => `GET ${area}/a%zz HTTP/1.1\r\n${host}${close}`, 400],
  ['percent-encoding that is not UTF-8', (area) => `GET ${area}/a%ff HTTP/1.1\r\n${host}${close}`, 400],
  ['a long target', (area) => `GET ${area}/${'a'.repeat(5_000)} HTTP/1.1\r\n${host}${close}`, 414],
  [
    'two Authorizations',
    (area) => `GET ${area}/busy HTTP/1.1\r\n${host}Authorization: x\r\nAuthorization: y\r\n${close}`,
    400,
  ],
  ['no route', (area) => `GET ${area}/nothing HTTP/1.1\r\n${host}${close}`, 404],
  ['another method', (area) => `DELETE ${area}/things HTTP/1.1\r\n${host}${close}`, 405],
  [
    'a body that is too large',
    (area) => `POST ${area}/things HTTP/1.1\r\n${host}${json}Content-Length: 65537\r\n${close}`,
    413,
  ],
  [
    'a body of another type',
    (area) =>
      `POST ${area}/things HTTP/1.1\r\n${host}Content-Type: text/csv\r\nContent-Length: 1\r\n${close}a`,
    415,
  ],
  [
    'a body that is no JSON',
    (area) => `POST ${area}/things HTTP/1.1\r\n${host}${json}Content-Length: 1\r\n${close}{`,
    400,
  ],
  ['a full queue', (area) => `GET ${area}/busy HTTP/1.1\r\n${host}${close}`, 503],
  [
    'a header that is not well-formed',
    (area) => `GET ${area}/busy HTTP/1.1\r\n${host}X-A: b\0c\r\n${close}`,
    400,
  ],
  [
    'a header before the Origin that is not well-formed',
    (area) => `GET ${area}/busy HTTP/1.1\r\nX-A: b\0c\r\n${host}${close}`,
    400,
  ],
  [
    'headers of 17 KiB',
    (area) => `GET ${area}/busy HTTP/1.1\r\n${host}X-A: ${'a'.repeat(17 * 1024)}\r\n${close}`,
    431,
  ],
  [
    'a target of 17 KiB',
    (area) => `GET ${area}/busy?${'a'.repeat(17 * 1024)} HTTP/1.1\r\n${host}${close}`,
    431,
  ],
  [
    'a broken chunk',
    (area) => `POST ${area}/things HTTP/1.1\r\n${host}${json}Transfer-Encoding: chunked\r\n${close}zz\r\n`,
    400,
  ],
];

const configured: readonly (readonly [string, readonly string[] | null, string | undefined])[] = [
  ['any origin', null, '*'],
  ['the origin of the page', ['https://other.example.com', shop], shop],
  ['another origin', ['https://other.example.com'], undefined],
];

const start = (t: ExecutionContext, corsOrigins: readonly string[] | null) =>
  startTestHttp(t, { routes: areas.slice(0, 2).flatMap(routesBelow), corsOrigins });

for (const [what, bytesOf, status] of early) {
  test(`Pages of allowed origins read the error ${status} of ${what}, except from the closed areas`, async (t) => {
    for (const [whom, origins, readable] of configured) {
      const http = await start(t, origins);
      for (const area of areas) {
        const { text, statuses } = await sendRaw(http.server.port, Buffer.from(bytesOf(area), 'latin1'));
        const [reply] = statuses;
        if (isOpen(area)) t.deepEqual(statuses, [status], text);
        else t.true(reply !== undefined && reply >= 400, text);
        const expected = isOpen(area) ? readable : undefined;
        t.is(
          headerOf(text, 'access-control-allow-origin'),
          expected,
          `${area}, with ${whom} allowed: ${text}`,
        );
        const exposes = headerOf(text, 'access-control-expose-headers')?.includes('Retry-After') ?? false;
        t.is(exposes, expected !== undefined, area);
      }
    }
  });
}

test('Pages read the 408 of a body that does not arrive', async (t) => {
  let limitMs = 75;
  const originOf = async (area: `/${string}`): Promise<string | undefined> => {
    limitMs *= 2;
    const limits = { headersTimeout: limitMs, requestTimeout: limitMs, connectionsCheckingInterval: 25 };
    const http = await startTestHttp(t, { routes: routesBelow(area), corsOrigins: [shop], limits });
    const connection = await openConnection(http.server.port);
    connection.write(`POST ${area}/things HTTP/1.1\r\n${host}${json}Content-Length: 100\r\n\r\n{`);
    const { text, statuses } = await connection.closed();
    t.deepEqual(statuses, [408]);
    return headerOf(text, 'access-control-allow-origin');
  };
  // A busy machine may read the head after a short limit, and the reply then knows no origin.
  t.is(await eventually('a reply with an origin', () => originOf('/api/v1'), { polls: 7 }), shop);
  t.is(await originOf('/internal/v1'), undefined);
});

test('A malformed request behind a good one is not taken for that of its head', async (t) => {
  const http = await start(t, null);
  const { text, statuses } = await sendRaw(
    http.server.port,
    `GET /api/v1/nothing HTTP/1.1\r\n${host}\r\nGET /internal/v1/busy HTTP/1.1\r\n${host}X-A: b\0c\r\n${close}`,
  );
  t.is(statuses[0], 404);
  const second = text.slice(text.indexOf('HTTP/1.1', 8));
  t.is(headerOf(second, 'access-control-allow-origin'), undefined, text);
});

test('The work on the head of a request that cannot be parsed grows no faster than the head', (t) => {
  // Given a head with many spaces inside its origin, each of which may be the end
  const spaces = ' '.repeat(256 * 1024);
  const rawPacket = Buffer.from(`GET /a HTTP/1.1\r\nOrigin: \t${shop}${spaces}${shop} \r\n`);
  // When
  const before = process.cpuUsage();
  const head = headOf({ rawPacket });
  // Then
  t.true(process.cpuUsage(before).user < 2_000_000);
  t.deepEqual(head, { url: '/a', origin: `${shop}${spaces}${shop}` });
});

test('Pages read the 503 of a service that is not ready', async (t) => {
  const http = await startTestHttp(t, {
    routes: areas.slice(0, 2).flatMap(routesBelow),
    readiness: { serving: () => false, ready: () => ({ ok: false, reasons: ['views'] }) },
  });
  for (const area of ['/api/v1', '/internal/v1']) {
    const { status, headers } = await http.ask(`${area}/busy`, { headers: { origin: shop } });
    t.is(status, 503);
    t.is(headers.get('access-control-allow-origin'), isOpen(area) ? '*' : null);
  }
});

function headerOf(text: string, name: string): string | undefined {
  const head = text.slice(0, text.indexOf('\r\n\r\n'));
  return new RegExp(`\\r\\n${name}: ([^\\r]*)`, 'i').exec(head)?.[1];
}
