import test, { type ExecutionContext } from 'ava';
import type { Answer } from '../../../support/clients/http-app.js';
import { sessionOf } from '../../../support/clients/passkey-calls.js';
import { codeOf, fieldOf } from '../../../support/given/replies.js';
import { givenSharing } from '../../../support/given/sharing-service.js';
import { password } from '../../../support/servers/http-service.js';

/** Given a share of a project whose owner has proved the address. */
async function given(t: ExecutionContext, options: { readonly mailConfigured?: boolean } = {}) {
  const scene = await givenSharing(t, options);
  const { service, owner, shares } = scene;
  const asset_id = await scene.add('one.png');
  const share = async (fields: object = {}) => (await scene.share({ asset_id, ...fields })).id;
  const id = await share();
  await service.verify('owner');
  return {
    ...{ ...scene, share, id },
    mail: (body: object, headers: Readonly<Record<string, string>> = owner, shareId = id): Promise<Answer> =>
      service.post(`${shares}/${shareId}/mail`, body, headers),
    requested: () => scene.events('ShareMailRequested'),
  };
}

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
  const { service, owner, shares, remove, verify, share, mail } = await given(t);
  const body = { to: ['bob@example.net'] };
  const [revoked, ending, used] = [
    await share(),
    await share({ expires_in: '1h' }),
    await share({ max_uses: 1 }),
  ];
  await remove(`${shares}/${revoked}`);
  t.deepEqual(codeOf(await mail(body, owner, revoked)), [404, 'not_found']);
  t.deepEqual(codeOf(await mail(body, owner, '019b7d00-0000-7000-8000-00000000dead')), [404, 'not_found']);
  t.is((await mail(body, owner, ending)).status, 202);
  service.clock.advance(3_600_000);
  const login = { email: 'owner@example.com', password };
  const headers = sessionOf(await service.post('/api/v1/auth/login', login));
  t.deepEqual(codeOf(await mail(body, headers, ending)), [409, 'conflict']);
  const token = fieldOf(await service.get(`${shares}/${used}`, headers), 'token');
  t.is((await verify(token)).status, 200);
  t.deepEqual(codeOf(await mail(body, headers, used)), [409, 'conflict']);
  // A share of another project is unknown here
  const other = await service.makeProject(headers);
  const elsewhere = await service.post(`/api/v1/projects/${other}/shares/${used}/mail`, body, headers);
  t.deepEqual(codeOf(elsewhere), [404, 'not_found']);
});

test('The sender, or the issuer of the API key, must have proved an address; without SMTP_URL it is 503', async (t) => {
  const { service, owner, base, mail, bind, add } = await given(t);
  const issue = async (scopes: readonly string[]) => ({
    'x-api-key': fieldOf(await service.post(`${base}/api-keys`, { name: 'CI', scopes }, owner), 'key'),
  });
  const body = { to: ['bob@example.net'] };
  t.is((await mail(body, await issue(['share:write']))).status, 202);
  t.deepEqual(codeOf(await mail(body, await issue(['share:read']))), [403, 'insufficient_scope']);
  // An owner who has proved nothing
  const eve = await service.signUp('eve');
  const projectId = await service.makeProject(eve);
  const place = `/api/v1/projects/${projectId}`;
  const asset_id = await add('two.png', [], { projectId, storageId: await bind(eve, place) });
  const made = await service.post(`${place}/shares`, { asset_id, password: 'open sesame' }, eve);
  const path = `${place}/shares/${fieldOf(made, 'id')}/mail`;
  t.deepEqual(codeOf(await service.post(path, body, eve)), [403, 'email_not_verified']);

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
