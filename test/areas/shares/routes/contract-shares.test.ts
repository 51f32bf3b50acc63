/* The sentences of the contract on shares and the peer list: 1, 4.3, 4.6, 5, 7 and 8. */
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '../../../../src/config/config.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { from, isError, startContract } from '../../../support/contract/scene.js';
import { names } from '../../../support/contract/sentences.js';
import { agentSecret } from '../../../support/servers/http-service.js';

const peerList = '/api/v1/internal/peer-list';

/** Holds that the reply carries the asset, and URLs whose signature names its end. */
function carriesTheAsset(t: ExecutionContext, answer: Answer): void {
  t.is(answer.status, 200, answer.text);
  t.like(answer.json, { code: 'ok', message: 'ok', data: { asset: { name: 'Rhine at dawn' } } });
  const { media } = (answer.json as { data: { media: readonly { readonly url: string }[] } }).data;
  t.true(media.length > 0);
  for (const { url } of media) t.regex(url, /^https:\/\/rushes-1250000000\..*[?&]q-signature=[0-9a-f]{40}/);
}

test(
  names(
    '4.6',
    'POST /api/v1/shares/{token}/verify',
    'Checks a share password.',
    'Public.',
    'On success the response carries the asset and signed media URLs.',
    '200: wrapper (2.4).',
  ),
  async (t) => {
    const { share, open } = await startContract(t);
    const token = await share();
    carriesTheAsset(t, await open(token));
    const wrong = await open(token, { password: 'wrong' });
    isError(t, wrong, 401);
    t.notRegex(wrong.text, /Rhine|https:/);
  },
);

test(
  names('1', 'Shares: verify a share password and receive the shared asset together with signed media URLs.'),
  async (t) => {
    const { share, open } = await startContract(t);
    carriesTheAsset(t, await open(await share()));
  },
);

test(
  names('4.6', 'Path: `token` string, required.', '404: error body, resource does not exist.'),
  async (t) => {
    const { share, open, url, owner, get, ask } = await startContract(t);
    const token = await share();
    for (const other of ['x'.repeat(22), token.slice(1), token.toUpperCase(), '7', ''])
      t.is((await open(other)).status, 404, other);
    isError(t, await open('x'.repeat(22)), 404);
    // A revoked share does not exist
    const [{ id }] = ((await get(`${url}/shares`, owner)).json as { items: [{ id: string }] }).items;
    t.is((await ask(`${url}/shares/${id}`, { method: 'DELETE', headers: owner })).status, 204);
    isError(t, await open(token), 404);
  },
);

test(names('4.6', 'Body: `password` string, required.'), async (t) => {
  const { share, open } = await startContract(t);
  const token = await share();
  for (const body of [{}, [], { password: 7 }, { password: '' }, { password: ['open sesame'] }])
    isError(t, await open(token, body), 400);
  t.is((await open(token)).status, 200);
});

for (const [section, ...sentences] of [
  ['4.6', '401: not authenticated or credentials invalid.'],
  ['5', 'Share verify gives 401 when the credentials are invalid.'],
  ['7', '401 | share verify | not authenticated or credentials invalid'],
] as const) {
  test(names(section, ...sentences), async (t) => {
    const { share, open } = await startContract(t);
    const token = await share();
    for (const tried of ['wrong', 'Open sesame', 'open  sesame', 'open']) {
      isError(t, await open(token, { password: tried }), 401);
    }
    t.is((await open(token)).status, 200);
  });
}

for (const [section, ...sentences] of [
  ['4.6', '429: too many verification attempts.'],
  ['7', '429 | share verify | too many verification attempts'],
  ['8', 'Share verify gives 429 after too many attempts.'],
] as const) {
  test(names(section, ...sentences), async (t) => {
    const { share, open } = await startContract(t);
    const token = await share();
    const guesser = from('198.51.100.1');
    for (let n = 0; n < 5; n += 1) t.is((await open(token, { password: `wrong ${n}` }, guesser)).status, 401);
    isError(t, await open(token, { password: 'open sesame' }, guesser), 429);
    t.is((await open(token, { password: 'open sesame' }, from('198.51.100.2'))).status, 200);
  });
}

test(
  names(
    '4.3',
    'GET /api/v1/internal/peer-list',
    'Returns the peer nodes, excluding the calling node.',
    'Query: `node_id` string, optional.',
    '200: object with `items`, an array of peer node items (2.3).',
  ),
  async (t) => {
    const { addPeer, peers } = await startContract(t);
    t.deepEqual(await peers(), { items: [] });
    // One has the address of the caller
    const caller = await addPeer('caller', '127.0.0.1');
    const others = [await addPeer('one', '192.0.2.1'), await addPeer('two', '192.0.2.2')];
    const ids = async (query: string) => (await peers(query)).items.map(({ id }) => id).sort();
    t.deepEqual(await ids(''), [...others].sort());
    t.deepEqual(await ids(`?node_id=${caller}`), [...others].sort());
    t.deepEqual(await ids(`?node_id=${others[0] ?? ''}`), [caller, others[1]].sort());
  },
);

test(
  names('1', 'Internal node list: an agent-only endpoint that lists peer nodes, excluding the caller.'),
  async (t) => {
    const { addPeer, peers, get, owner, issueKey } = await startContract(t);
    const caller = await addPeer('caller', '127.0.0.1');
    const other = await addPeer('one', '192.0.2.1');
    t.deepEqual(
      (await peers(`?node_id=${caller}`)).items.map(({ id }) => id),
      [other],
    );
    for (const headers of [{}, owner, await issueKey('storage:read')])
      t.is((await get(peerList, headers)).status, 401);
  },
);

test(
  names(
    '4.3',
    'Internal use.',
    'Header: `X-Agent-Secret` required.',
    '401: the header is missing or does not match.',
  ),
  async (t) => {
    const { get, owner } = await startContract(t);
    const given = (secret: string) => get(peerList, { 'x-agent-secret': secret });
    t.is((await given(agentSecret)).status, 200);
    for (const headers of [{}, owner]) isError(t, await get(peerList, headers), 401);
    for (const other of ['wrong', agentSecret.toUpperCase(), `${agentSecret}x`, agentSecret.slice(1)])
      isError(t, await given(other), 401);
    // No page of another origin reads it
    const crossed = await get(peerList, { 'x-agent-secret': agentSecret, origin: 'https://example.org' });
    t.is(crossed.headers.get('access-control-allow-origin'), null);
  },
);

test(
  names(
    '4.3',
    '503: the agent secret is not configured on the service (configuration name `NODE_AGENT_SECRET`); the endpoint is then disabled.',
  ),
  async (t) => {
    const { get } = await startContract(t, { agentSecrets: [] });
    for (const headers of [{}, { 'x-agent-secret': agentSecret }, { 'x-agent-secret': '' }]) {
      const refused = await get(peerList, headers);
      isError(t, refused, 503);
      t.like(refused.json, { code: 'agent_secret_not_configured' });
    }
    // The secret of the configuration is the one that the endpoint takes
    const config = readConfig({ NODE_AGENT_SECRET: agentSecret });
    const configured = await startContract(t, { agentSecrets: [config.secret('NODE_AGENT_SECRET')] });
    t.is((await configured.get(peerList, { 'x-agent-secret': agentSecret })).status, 200);
  },
);

for (const [section, ...sentences] of [
  ['5', 'Agent secret | header `X-Agent-Secret: <AGENT_SECRET>` | internal peer list only'],
  [
    '5',
    'The peer list requires `X-Agent-Secret` equal to the configured secret: missing or different gives 401; no secret configured gives 503.',
  ],
  [
    '7',
    '401 | peer list | agent secret missing or mismatched',
    '503 | peer list | agent secret not configured',
  ],
] as const) {
  test(names(section, ...sentences), async (t) => {
    const { get, url } = await startContract(t);
    const agent = { 'x-agent-secret': agentSecret };
    t.is((await get(peerList, agent)).status, 200);
    isError(t, await get(peerList), 401);
    isError(t, await get(peerList, { 'x-agent-secret': 'wrong' }), 401);
    for (const path of [url, `${url}/storages`, '/api/v1/auth/me', '/audit/status'])
      t.is((await get(path, agent)).status, 401, path);
    const without = await startContract(t, { agentSecrets: [] });
    isError(t, await without.get(peerList, agent), 503);
  });
}
