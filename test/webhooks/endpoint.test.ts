import test from 'ava';
import { readConfig } from '../../src/config/config.js';
import { parseEndpoints } from '../../src/webhooks/endpoint.js';
import { webhookTypes } from '../../src/webhooks/messages/message-types.js';
import { webhookSecret as secret } from '../support/given/given-webhooks.js';

const url = 'https://shop.example.org/hook?token=canary-token';

test('A line names a URL, secrets and types; comments and empty lines count for nothing', (t) => {
  const endpoints = parseEndpoints(
    `# shop\n\n ${url} ${secret} order.*,share.revoked\r\nhttp://my_shop:8080/ ${secret},${secret} *\n`,
  );
  t.is(endpoints.length, 2);
  t.true(endpoints[0]?.types.has('order.placed'));
  t.true(endpoints[0]?.types.has('share.revoked'));
  t.false(endpoints[0]?.types.has('share.created'));
  t.deepEqual([...(endpoints[1]?.types ?? [])].sort(), [...webhookTypes].sort());
  t.deepEqual(
    endpoints.map(({ keys }) => keys.length),
    [1, 2],
  );
});

test('Another secret and other types keep the id of an endpoint, and another URL changes it', (t) => {
  const idOf = (line: string) => parseEndpoints(line)[0]?.id;
  const id = idOf(`${url} ${secret} *`);
  t.regex(id ?? '', /^[0-9a-f]{12}$/);
  t.is(idOf(`${url} whsec_${Buffer.alloc(24, 1).toString('base64')} order.*`), id);
  t.not(idOf(`${url}2 ${secret} *`), id);
});

for (const [what, text, expected] of [
  ['a missing type', `${url} ${secret}`, 'line 1 must be a URL, a secret and a list of types'],
  ['a fourth field', `${url} ${secret} * more`, 'line 1 must be a URL'],
  ['a URL without scheme', `shop.example.org ${secret} *`, 'line 1 must begin with an http or https URL'],
  ['another scheme', `ftp://shop.example.org ${secret} *`, 'line 1 must begin with an http or https URL'],
  ['a password in the URL', `https://u:p@shop.example.org ${secret} *`, 'line 1 must begin with'],
  ['a secret without prefix', `${url} ${secret.slice(6)} *`, 'line 1 needs 1 to 3 secrets'],
  ['a short secret', `${url} whsec_${Buffer.alloc(23).toString('base64')} *`, 'line 1 needs 1 to 3 secrets'],
  ['four secrets', `${url} ${[secret, secret, secret, secret].join()} *`, 'line 1 needs 1 to 3 secrets'],
  ['an unknown type', `#\n${url} ${secret} order.*,order.payed`, 'line 2 names a type that does not exist'],
  [
    'one URL twice',
    `${url} ${secret} *\n${url} ${secret} order.*`,
    'endpoint 2 has the URL of an earlier one',
  ],
  [
    'too many endpoints',
    Array.from({ length: 21 }, (_, index) => `${url}${index} ${secret} *`).join('\n'),
    'it names 21 endpoints; at most 20',
  ],
] as const) {
  test(`The start refuses ${what} with a sentence that shows no value`, (t) => {
    const error = t.throws(() => readConfig({ WEBHOOK_URLS: text }));
    t.true(error.message.includes(`WEBHOOK_URLS: ${expected}`), error.message);
    t.false(error.message.includes('canary-token'));
    t.false(error.message.includes(secret.slice(6)));
  });
}
