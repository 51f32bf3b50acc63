import { stat } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { z } from 'zod';
import { makeHttp } from '../../src/composition/http.js';
import { makeOperators } from '../../src/composition/operators.js';
import { CommandRejected, OutcomeUnknown, StoreDamaged } from '../../src/event-sourcing/ports/errors.js';
import { publicAccess } from '../../src/http/access/access.js';
import { makeOpenApi } from '../../src/http/document/openapi.js';
import { makeRoute } from '../../src/http/route.js';
import { noBody, noParams, noQuery } from '../../src/http/route-spec.js';
import { makeOperatorRoutes } from '../../src/operating/routes/index.js';
import { changing, reading } from '../../src/operating/routes/operator-route.js';
import { callOperator, changeRequest, isUnserved, readRequest } from '../../src/operating/socket/client.js';
import { connectWithin, controlSocketPath, listenForOperators } from '../../src/operating/socket/listen.js';
import { makeOperatorHandler } from '../../src/operating/socket/operator-app.js';
import { asObject, textOf } from '../support/clients/service-client.js';
import { makeTestClock } from '../support/fakes/clock.js';
import { givenDirectory } from '../support/directories.js';
import { givenInProcess } from '../support/servers/service-in-process.js';

/** A service with its listener over TCP and its socket for operators. */
async function givenService(t: ExecutionContext) {
  const service = await givenInProcess(t);
  const path = controlSocketPath(service.directory);
  const handler = makeOperators(service.services, { status: () => ({ ready: false }) });
  const listener = await listenForOperators(path, handler);
  t.teardown(() => listener.close());
  return { service, path };
}

const node = { name: 'edge-1', ip_address: '192.0.2.10' };

test('The socket serves the routes of operators to its user, whose changes have the actor operator', async (t) => {
  const { service, path } = await givenService(t);
  const ask = (asked: Parameters<typeof callOperator>[1]) => callOperator(() => connect(path), asked);
  t.is((await stat(path)).mode & 0o777, 0o600);
  // when a node is added by the published route
  const made = await ask(changeRequest('/api/v1/admin/nodes', node));
  t.like(made, { ok: true, result: { name: 'edge-1', status: 'unknown' } });
  // then it is listed, and its event names the operator
  t.like(await ask(readRequest('/api/v1/admin/nodes', { limit: 5 })), { result: { items: [node] } });
  const id = made.ok ? textOf(asObject(made.result), 'id') : '';
  const [event] = await service.services.eventStore.read(`node-${id}`, { limit: 1 });
  t.is(event?.metadata.actor, 'operator');
  // and the routes that only the socket serves answer, also while the service is not ready
  t.like(await ask(readRequest('status')), { result: { ready: false } });
  t.like(await ask(changeRequest('keys add', { ring: 'jwt' })), { ok: true, result: { ring: 'jwt' } });
  // and bodies and parameters are checked as everywhere
  for (const [asked, problem] of [
    [changeRequest('/api/v1/admin/nodes', { name: 'edge-2' }), /ip_address is missing/],
    [changeRequest('keys add', { ring: 'jwt', extra: 1 }), /extra is unknown/],
    [readRequest('user list', { limit: 0 }), /query\.limit must be at least 1/],
  ] as const) {
    const refused = await ask(asked);
    t.like(refused, { ok: false, code: 'invalid_request' });
    t.regex((refused as { message: string }).message, problem);
  }
});

test('No request over TCP reaches a route of the socket, or is its actor', async (t) => {
  const { service } = await givenService(t);
  const all = makeOperatorRoutes(service.services, () => null);
  t.true(all.length > 40, `${all.length} routes`);
  const pretended = {
    ...{ 'x-forwarded-for': '', forwarded: 'for=unix:', host: 'localhost', 'x-real-ip': '' },
    ...{ 'x-actor': 'operator', authorization: 'Bearer operator', 'content-type': 'application/json' },
  };
  const published = JSON.stringify(
    makeOpenApi(service.routes, { publicUrl: 'http://localhost', version: '1', passwordRules: '' }),
  );
  for (const { method, path } of all) {
    // when the request is the same that the socket answers, with headers that pretend
    const target = path.replaceAll(/:\w+/g, '0196a000-0000-7000-8000-000000000001');
    const content = method === 'GET' ? {} : { body: '{}' };
    for (const headers of [{ 'content-type': 'application/json' }, pretended]) {
      const { status } = await fetch(`${service.url}${target}`, { method, headers, ...content });
      // then the route is unknown, or asks who the caller is
      t.is(status, path.startsWith('/operator/') ? 404 : 401, `${method} ${target}`);
    }
  }
  t.false(published.includes('/operator/'));
});

test('A listener without addresses makes no operator: the socket of operators has a handler by itself', async (t) => {
  // given the handler of the service, on a socket whose requests have no address
  const { service } = await givenService(t);
  const path = join(givenDirectory(t), 'other.sock');
  const { handler } = makeHttp(service.services, {
    ready: () => ({ ok: true, reasons: [] }),
    serving: () => true,
  });
  const server = createServer((asked, reply) => void handler(asked, reply)).listen(path);
  t.teardown(() => server.close());
  const statusOf = (target: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request({ socketPath: path, path: target }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      });
      asked.once('error', reject).end();
    });
  t.is(await statusOf('/api/v1/admin/nodes'), 401);
  t.is(await statusOf('/operator/user/list'), 404);
});

test('A refusal has its code and a sentence, and reveals nothing about an internal failure', async (t) => {
  const fails = (name: string, error: Error) => reading(name, noQuery, () => Promise.reject(error));
  const open = connectWithin(
    makeOperatorHandler({
      ...{ clock: makeTestClock(), logger: pino({ level: 'silent' }), publicUrl: 'http://localhost' },
      runOnce: () => Promise.reject(new Error('unused')),
      routes: [
        changing('double', z.strictObject({ n: z.int() }), ({ n }) => ({ n: n * 2 })),
        fails('refuse', new CommandRejected('view_in_use', 'a process uses it')),
        fails('miss', new CommandRejected('user_not_found', 'there is no such user')),
        fails('lose', new OutcomeUnknown('no answer in 5 s')),
        fails('damage', new StoreDamaged('events.db ends too early')),
        fails('fail', new Error('secret detail')),
        makeRoute({
          ...{ method: 'GET', path: '/open', name: 'open', tag: 'Open', summary: '', access: publicAccess },
          request: { params: noParams, query: noQuery, body: noBody },
          replies: { 200: { description: '', schema: z.unknown() } },
          handler: () => ({ status: 200, body: {} }),
        }),
      ],
    }),
  );
  t.like(await callOperator(open, changeRequest('double', { n: 21 })), { ok: true, result: { n: 42 } });
  for (const [asked, code, message] of [
    [changeRequest('double', { n: 'x' }), 'invalid_request', 'n must be a number'],
    [changeRequest('nothing'), 'not_found', 'there is nothing at this path'],
    [readRequest('/open'), 'not_found', 'there is nothing at this path'],
    [readRequest('refuse'), 'view_in_use', 'a process uses it'],
    [readRequest('miss'), 'user_not_found', 'there is no such user'],
    [readRequest('lose'), 'store_unavailable', 'a store does not answer; nothing was written, so try again'],
    [readRequest('damage'), 'store_damaged', 'events.db ends too early'],
    [readRequest('fail'), 'internal_error', 'the service failed to answer'],
  ] as const) {
    t.deepEqual(await callOperator(open, asked), { ok: false, code, message });
  }
});

test('A caller can distinguish a missing service from a refusal, and one that gives no answer', async (t) => {
  const directory = givenDirectory(t);
  const path = join(directory, 'control.sock');
  const ask = (answerMsMax?: number) => callOperator(() => connect(path), readRequest('status'), answerMsMax);
  const refused = await t.throwsAsync(ask());
  t.true(isUnserved(refused));
  const server = createServer(() => undefined).listen(path);
  t.teardown(() => server.close());
  t.like(await ask(20), { ok: false, code: 'no_answer' });
});
