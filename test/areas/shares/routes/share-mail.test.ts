import test, { type ExecutionContext } from 'ava';
import { addAsset } from '../../../support/given/given-share.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { startTestService } from '../../../support/servers/http-service.js';

const storage = {
  ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' },
  credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
};

/** Given a share of a project whose owner has proved the address. */
async function given(t: ExecutionContext, options: { readonly mailConfigured?: boolean } = {}) {
  const service = await startTestService(t, { trustedProxies: ['127.0.0.1'], ...options });
  const owner = await service.signUp('owner');
  const project = await service.makeProject(owner);
  const base = `/api/v1/projects/${project}`;
  const bound = await service.post(`${base}/storages`, storage, owner);
  const { id: storageId } = bound.json as { id: string };
  const file = { name: 'one.png', object_key: 'one.png', media_type: 'image/png', size: 7, renditions: [] };
  const asset_id = await addAsset(service.stores, { projectId: project, storageId }, file);
  const share = async (fields: object = {}): Promise<string> => {
    const made = await service.post(
      `${base}/shares`,
      { asset_id, password: 'open sesame', ...fields },
      owner,
    );
    return (made.json as { id: string; token: string }).id;
  };
  const id = await share();
  await service.verify('owner');
  return {
    ...{ service, owner, base, share, id },
    mail: (body: object, headers: Readonly<Record<string, string>> = owner, shareId = id): Promise<Answer> =>
      service.post(`${base}/shares/${shareId}/mail`, body, headers),
    requested: async () => {
      const { events } = await service.stores.eventStore.readAll({ after: null, limit: 500 });
      return events.filter(({ type }) => type === 'ShareMailRequested');
    },
  };
}

const codeOf = (answer: Answer) => [answer.status, (answer.json as { code: string }).code];
const many = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => `${name}${index}@example.net`);

test('A mail is requested for each address, with the same reply for known and unknown ones, all sealed', async (t) => {
  const { service, mail, requested, id } = await given(t);
  await service.signUp('bob');
  const known = await mail({ to: ['Bob@example.com'], message: ' Have a look \n at these ' });
  const unknown = await mail({ to: ['stranger@example.net'], message: 'Have a look' });
  t.deepEqual([known.status, known.json], [202, { addresses: 1 }], known.text);
  t.deepEqual([unknown.status, unknown.json], [known.status, known.json]);
  t.is((await mail({ to: many(10, 'guest'), message: null })).status, 202);
  const events = await requested();
  t.deepEqual(
    events.map(({ data }) => [data['share_id'], data['number'], data['message'] === null]),
    [[id, 0, false], [id, 0, false], ...many(10, '').map((_, number) => [id, number, true])],
  );
  t.is(new Set(events.map(({ stream }) => stream)).size, 3, 'a request is one stream');
  t.notRegex(JSON.stringify(events.map(({ data }) => data)), /example\.(?:com|net)|Have a look/i);
});

test('A repetition with the same Idempotency-Key requests no second mail', async (t) => {
  const { owner, mail, requested } = await given(t);
  const headers = { ...owner, 'idempotency-key': 'mail-1' };
  for (const again of [1, 2]) {
    const answer = await mail({ to: ['bob@example.net'] }, headers);
    t.deepEqual([again, answer.status, answer.json], [again, 202, { addresses: 1 }]);
  }
  t.is((await requested()).length, 1);
});

test('Addresses and messages that do not fit are 400 with the field, and request no mail', async (t) => {
  const { mail, requested } = await given(t);
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ to: [] }, /to/],
    [{ to: many(11, 'guest') }, /to/],
    [{ to: ['bob@example.net', 'nonsense'] }, /to\.1/],
    [{ to: ['bob@example.net\r\nBcc: eve@example.net'] }, /to\.0/],
    [{ to: ['bob@example.net', 'BOB@Example.net'] }, /to must be distinct/],
    [{ to: ['bob@example.net'], message: 'x'.repeat(501) }, /message/],
    [{ to: ['bob@example.net'], message: 'a\u0000b' }, /message/],
    [{ to: ['bob@example.net'], subject: 'Buy now' }, /subject/],
    [{ to: 'bob@example.net' }, /to/],
  ];
  for (const [body, field] of wrong) {
    const answer = await mail(body);
    t.deepEqual(codeOf(answer), [400, 'invalid_request'], JSON.stringify(body));
    t.regex(answer.text, field);
    t.notRegex(answer.text, /nonsense|eve@/);
  }
  t.is((await mail({ to: ['bob@example.net'], message: '😀'.repeat(500) })).status, 202);
  t.is((await requested()).length, 1);
});

test('Only the link of a share that opens is mailed', async (t) => {
  const { service, owner, base, share, mail } = await given(t);
  const body = { to: ['bob@example.net'] };
  const [revoked, ending, used] = [
    await share(),
    await share({ expires_in: '1h' }),
    await share({ max_uses: 1 }),
  ];
  await service.ask(`${base}/shares/${revoked}`, { method: 'DELETE', headers: owner });
  t.deepEqual(codeOf(await mail(body, owner, revoked)), [404, 'not_found']);
  t.deepEqual(codeOf(await mail(body, owner, '019b7d00-0000-7000-8000-00000000dead')), [404, 'not_found']);
  t.is((await mail(body, owner, ending)).status, 202);
  service.clock.advance(3_600_000);
  const headers = await relogin(t, service);
  t.deepEqual(codeOf(await mail(body, headers, ending)), [409, 'conflict']);
  const { token } = (await service.get(`${base}/shares/${used}`, headers)).json as { token: string };
  t.is((await service.post(`/api/v1/shares/${token}/verify`, { password: 'open sesame' })).status, 200);
  t.deepEqual(codeOf(await mail(body, headers, used)), [409, 'conflict']);
  // A share of another project is unknown here
  const other = await service.makeProject(headers);
  const elsewhere = await service.post(`/api/v1/projects/${other}/shares/${used}/mail`, body, headers);
  t.deepEqual(codeOf(elsewhere), [404, 'not_found']);
});

async function relogin(t: ExecutionContext, service: Awaited<ReturnType<typeof startTestService>>) {
  const body = { email: 'owner@example.com', password: 'Correct-Horse-7' };
  const answer = await service.post('/api/v1/auth/login', body);
  t.is(answer.status, 200, answer.text);
  const { data } = answer.json as { data: { tokens: { access_token: string } } };
  return { authorization: `Bearer ${data.tokens.access_token}` };
}

test('The sender, or the issuer of the API key, must have proved an address; without SMTP_URL it is 503', async (t) => {
  const service = await given(t);
  const { owner, base, mail } = service;
  const issue = async (scopes: readonly string[]) => {
    const issued = await service.service.post(`${base}/api-keys`, { name: 'CI', scopes }, owner);
    return { 'x-api-key': (issued.json as { key: string }).key };
  };
  const body = { to: ['bob@example.net'] };
  t.is((await mail(body, await issue(['share:write']))).status, 202);
  t.deepEqual(codeOf(await mail(body, await issue(['share:read']))), [403, 'insufficient_scope']);
  // An owner who has proved nothing
  const eve = await service.service.signUp('eve');
  const project = await service.service.makeProject(eve);
  const place = `/api/v1/projects/${project}`;
  const bound = await service.service.post(`${place}/storages`, storage, eve);
  const { id: storageId } = bound.json as { id: string };
  const file = { name: 'two.png', object_key: 'two.png', media_type: 'image/png', size: 7, renditions: [] };
  const asset_id = await addAsset(service.service.stores, { projectId: project, storageId }, file);
  const made = await service.service.post(`${place}/shares`, { asset_id, password: 'open sesame' }, eve);
  const path = `${place}/shares/${(made.json as { id: string }).id}/mail`;
  t.deepEqual(codeOf(await service.service.post(path, body, eve)), [403, 'email_not_verified']);

  const silent = await given(t, { mailConfigured: false });
  t.deepEqual(codeOf(await silent.mail(body)), [503, 'mail_not_configured']);
});

test('A user mails 50 addresses a day, and a refused request counts for nothing', async (t) => {
  const { mail, requested } = await given(t);
  for (const name of ['a', 'b', 'c', 'd']) t.is((await mail({ to: many(10, name) })).status, 202);
  t.is((await mail({ to: many(6, 'e') })).status, 202);
  const refused = await mail({ to: many(5, 'f') });
  t.deepEqual(codeOf(refused), [429, 'too_many_attempts']);
  t.regex(refused.text, /you have mailed/);
  // 4 are left, and one more comes back each 1,728 s
  t.is(refused.headers.get('retry-after'), '1728');
  t.is((await mail({ to: many(4, 'g') })).status, 202);
  t.is((await mail({ to: many(1, 'h') })).status, 429);
  t.is((await requested()).length, 50);
});

test('An address gets 5 mails a day in all spellings, and the state store has no address in clear', async (t) => {
  const { service, mail } = await given(t);
  for (const to of [
    'bob@example.net',
    'BOB@example.net',
    'bob@EXAMPLE.net',
    'Bob@example.net',
    'bob@example.net',
  ]) {
    t.is((await mail({ to: [to] })).status, 202);
  }
  const refused = await mail({ to: ['ada@example.net', 'bob@example.net'] });
  t.deepEqual(codeOf(refused), [429, 'too_many_attempts']);
  t.notRegex(refused.text, /bob/);
  t.is((await mail({ to: ['ada@example.net'] })).status, 202);
  const records = await service.stores.stateStore.list('limit/', { limit: 500 });
  t.true(records.length > 0);
  t.notRegex(JSON.stringify(records), /example/i);
});
