import test from 'ava';
import { publicAccess } from '../../../src/http/access/access.js';
import { checkRoutes } from '../../../src/http/server/check-routes.js';
import { HttpError } from '../../../src/http/replies/http-error.js';
import type { OpenApiDocument } from '../../../src/http/document/openapi.js';
import { type Deprecation, noBody, noParams, noQuery } from '../../../src/http/route-spec.js';
import { makeRoute, type Route } from '../../../src/http/route.js';
import { z } from 'zod';
import { startTestHttp } from '../../support/clients/http-app.js';

const deprecation = {
  since: new Date('2027-01-01T00:00:00Z'),
  ends: new Date('2027-07-02T00:00:00Z'),
  link: 'https://stowage.example.com/docs#things',
};

type Answer = () => { status: 200; body: Record<string, never> };

function routeAt(path: string, handler: Answer, ending?: Deprecation): Route {
  return makeRoute({
    ...{ method: 'GET', path, name: `get${path.slice(1)}`, tag: 'Things', summary: 'Get', handler },
    ...{ description: 'All of them.', access: publicAccess, errors: ['conflict'] },
    request: { params: noParams, query: noQuery, body: noBody },
    replies: { 200: { description: 'It.', schema: z.strictObject({}) } },
    ...(ending === undefined ? {} : { deprecation: ending }),
  });
}

const fine: Answer = () => ({ status: 200, body: {} });

test('Every reply of a deprecated operation says so, when it ends, and where to read more', async (t) => {
  const routes = [
    routeAt('/old', fine, deprecation),
    routeAt(
      '/broken',
      () => {
        throw new HttpError('conflict', 'no');
      },
      deprecation,
    ),
    routeAt('/new', fine),
  ];
  const { ask } = await startTestHttp(t, { routes });
  const headersAt = async (path: string) => {
    const { status, headers } = await ask(path, { headers: { origin: 'https://shop.example.com' } });
    return [status, headers.get('deprecation'), headers.get('sunset'), headers.get('link')];
  };
  const said = [
    '@1798761600',
    'Fri, 02 Jul 2027 00:00:00 GMT',
    '<https://stowage.example.com/docs#things>; rel="deprecation"; type="text/html"',
  ];
  t.deepEqual(await headersAt('/old'), [200, ...said]);
  t.deepEqual(await headersAt('/broken'), [409, ...said]);
  t.deepEqual(await headersAt('/old?surprise=1'), [400, ...said]);
  t.deepEqual(await headersAt('/new'), [200, null, null, null]);

  const { paths } = (await ask('/openapi.json')).json as OpenApiDocument;
  t.like(paths['/old']?.['get'], {
    deprecated: true,
    description:
      'Deprecated since 2027-01-01. It ends on 2027-07-02. See https://stowage.example.com/docs#things.\n\nAll of them.\n\nAccess: anybody.',
  });
  t.false('deprecated' in (paths['/new']?.['get'] ?? {}));
});

test('The start refuses a deprecation with too short a time or without a URL', (t) => {
  const check = (change: Partial<typeof deprecation>): void => {
    checkRoutes([routeAt('/old', fine, { ...deprecation, ...change })]);
  };
  t.notThrows(() => {
    check({});
  });
  const refused: readonly [Partial<typeof deprecation>, RegExp][] = [
    [
      { ends: new Date('2027-07-01T23:00:00Z') },
      /GET \/old: is deprecated for less than 182 days before its end/,
    ],
    [{ link: 'see the docs' }, /has no URL for its deprecation/],
    [{ link: 'https://stowage.example.com/>;x' }, /has no URL for its deprecation/],
  ];
  for (const [change, message] of refused) {
    t.throws(
      () => {
        check(change);
      },
      { message },
    );
  }
});

test('No operation is deprecated, as the policy says', async (t) => {
  const { startTestService } = await import('../../support/servers/http-service.js');
  const { routes } = await startTestService(t);
  t.deepEqual(
    routes.filter(({ deprecation: ends }) => ends !== undefined).map(({ name }) => name),
    [],
  );
});
