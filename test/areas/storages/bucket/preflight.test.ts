import test from 'ava';
import { verdictOf } from '../../../../src/areas/storages/bucket/probing/probe-pages.js';

const origin = 'https://app.example.com';
const put = { origin, method: 'PUT', headers: ['content-type'] } as const;

const allow = (origins: string, methods: string, headers: string) => ({
  'access-control-allow-origin': origins,
  'access-control-allow-methods': methods,
  'access-control-allow-headers': headers,
});

const rows: readonly [string, number, Readonly<Record<string, string>>, 'allowed' | 'refused' | 'unknown'][] =
  [
    ['that names origin, method and header', 200, allow(origin, 'GET, PUT', 'Content-Type'), 'allowed'],
    ['of any origin, method and header', 204, allow('*', '*', '*'), 'allowed'],
    ['for another origin', 200, allow('https://example.com', 'PUT', '*'), 'refused'],
    ['with a path after the origin', 200, allow(`${origin}/`, 'PUT', '*'), 'refused'],
    ['without the method', 200, allow(origin, 'GET, HEAD', '*'), 'refused'],
    ['without the header', 200, allow(origin, 'PUT', 'range'), 'refused'],
    ['that passes no header of CORS', 200, {}, 'refused'],
    ['that refuses, as S3 without rules', 403, {}, 'refused'],
    ['that offers a choice, which is no success', 300, allow('*', '*', '*'), 'refused'],
    ['that redirects, which browsers do not follow', 307, allow('*', '*', '*'), 'refused'],
    ['of a server that does not know OPTIONS', 501, {}, 'refused'],
    ['of a server with an error', 502, {}, 'unknown'],
    ['of a server that limits requests', 429, {}, 'unknown'],
  ];

for (const [what, status, headers, expected] of rows) {
  test(`A reply ${what} is ${expected}`, (t) => t.is(verdictOf({ status, headers }, put).is, expected));
}
