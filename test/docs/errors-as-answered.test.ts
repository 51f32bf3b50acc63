import test from 'ava';
import { startTestService } from '../support/servers/http-service.js';
import { codeOf } from '../support/given/replies.js';
import { read } from './documents.js';

const errors = read('docs/errors-and-limits.md');

test('The row of the code that a wrong API key gets names the API key, and no other row of a 401 does', async (t) => {
  const { get } = await startTestService(t);
  const [status, code] = codeOf(await get('/api/v1/auth/me', { 'x-api-key': 'stw_wrong' }));
  const rows = [...errors.matchAll(/^\| `(?<code>[a-z_]+)` \| (?<status>\d+)[^|]*\| (?<when>[^|]+) \|/gm)];
  const named = rows
    .map(({ groups }) => groups ?? {})
    .filter((row) => row['status'] === String(status) && row['when']?.includes('API key'));
  t.deepEqual(
    named.map((row) => row['code']),
    [String(code)],
  );
});

test('The document limits.md names wrong API keys and agent secrets where a 429 has only Retry-After', async (t) => {
  const { get } = await startTestService(t);
  const wrongs = [
    ['API keys', '/api/v1/auth/me', { 'x-api-key': 'stw_wrong' }],
    ['agent secrets', '/api/v1/internal/peer-list', { 'x-agent-secret': 'wrong' }],
  ] as const;
  const [listed = ''] =
    /^These have no header but `Retry-After` on 429:[^]*?\n\n/m.exec(read('docs/limits.md')) ?? [];
  for (const [what, path, headers] of wrongs) {
    let reply = await get(path, headers);
    const first = reply.headers;
    for (let tries = 1; reply.status === 401 && tries < 100; tries += 1) reply = await get(path, headers);
    t.is(reply.status, 429, what);
    const told = [first, reply.headers].map((of) => of.get('ratelimit-limit'));
    t.deepEqual(told, [null, null], what);
    t.true(listed.includes(what), what);
  }
});

test('The lists that take no limit are those that the document names', async (t) => {
  const { get, signUp } = await startTestService(t);
  const ada = await signUp('ada');
  t.is((await get('/api/v1/auth/sessions?limit=1', ada)).status, 200);
  t.deepEqual(codeOf(await get('/api/v1/auth/passkeys?limit=1', ada)), [400, 'invalid_request']);
  t.regex(errors, /^A list takes `limit` .* and `cursor` \(passkeys: neither\)/m);
});
