import test, { type ExecutionContext } from 'ava';
import { addAsset, sharedFile, sharePassword as password } from '../../../support/given/given-share.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { givenSharing } from '../../../support/given/sharing-service.js';
import { codeOf } from '../../../support/given/replies.js';

interface ShareJson {
  readonly id: string;
  readonly token: string;
  readonly url: string;
  readonly remaining_uses: number | null;
}

interface Opened {
  readonly data: {
    readonly share: Record<string, unknown>;
    readonly asset: Record<string, unknown>;
    readonly media: readonly Record<string, string>[];
    readonly share_session: string;
    readonly expires_at: string;
  };
}

async function given(t: ExecutionContext, overrides: Parameters<typeof givenSharing>[1] = {}) {
  const scene = await givenSharing(t, overrides);
  const { service, project, storageId } = scene;
  const assetId = await addAsset(service.stores, { projectId: project, storageId });
  const share = async (terms = {}) => (await scene.share({ asset_id: assetId, ...terms })) as ShareJson;
  return { ...scene, assetId, share };
}

const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
const sessionOf = (answer: Answer): string => (answer.json as Opened).data.share_session;

test('A neighbour who uses up the limit of a network stops no visitor there who opened the share before', async (t) => {
  const limit = { limit: 2, seconds: 3_600 };
  const { service, share, verify } = await given(t, { rates: { share_verify: limit } });
  const [made, other] = [await share(), await share()];
  const share_session = sessionOf(await verify(made.token));
  for (let tried = 0; tried < 3; tried += 1) await verify(made.token, 'wrong', from('198.51.100.1'));
  const again = (token: string, tried = password) =>
    service.post(`/api/v1/shares/${token}/verify`, { password: tried, share_session }, from('198.51.100.1'));
  t.is((await again(made.token)).status, 200);
  // The session of one share helps at no other.
  t.is((await again(other.token)).status, 429);
});

test('A share is made, shown, changed, opened and revoked', async (t) => {
  const { service, owner, shares, assetId, share, verify, change } = await given(t);
  // Given a share
  const made = await share({ max_uses: 3 });
  t.regex(made.token, /^[0-9A-Za-z]{22}$/);
  t.is(made.url, `http://127.0.0.1:8080/s/${made.token}`);
  t.is(made.remaining_uses, 3);
  // When it is opened
  const opened = await verify(made.token);
  // Then the reply has the documented form
  t.is(opened.status, 200, opened.text);
  t.is(opened.headers.get('cache-control'), 'no-store');
  const { data } = opened.json as Opened;
  t.deepEqual(data.share, {
    ...{ name: 'Rhine at dawn', title: null, note: null, sender: null },
    ...{ expires_at: null, remaining_uses: 2, allow_download: true },
  });
  const { created_at, ...asset } = data.asset;
  t.is(typeof created_at, 'string');
  const { name, media_type, size } = sharedFile;
  t.deepEqual(asset, { id: assetId, name, kind: 'image', media_type, size });
  t.deepEqual(
    data.media.map(({ kind, method, media_type: type }) => [kind, method, type]),
    [
      ['original', 'GET', 'image/png'],
      ['thumbnail', 'GET', 'image/jpeg'],
    ],
  );
  t.regex(
    data.media[0]?.['url'] ?? '',
    /^https:\/\/rushes\.s3\.eu-central-1\.amazonaws\.com\/2026\/rhine\.png\?/,
  );
  t.is(data.expires_at, new Date(service.clock.now().getTime() + 12 * 3_600_000).toISOString());
  // And members see the number of uses and the access
  const path = `${shares}/${made.id}`;
  t.like((await service.get(path, owner)).json, { id: made.id, token: made.token, remaining_uses: 2 });
  const { items } = (await service.get(`${path}/accesses`, owner)).json as { items: { at: string }[] };
  t.is(items.length, 1);
  t.is(items[0]?.at, service.clock.now().toISOString());
  // When it is changed and revoked
  const changed = await change(path, { max_uses: null, allow_download: false });
  t.like(changed.json, { max_uses: null, remaining_uses: null, allow_download: false, expires_at: null });
  const listed = (await service.get(shares, owner)).json as { items: unknown[] };
  t.deepEqual(listed.items, [changed.json]);
  t.is((await service.ask(path, { method: 'DELETE', headers: owner })).status, 204);
  // Then it opens no more and is not listed, but its accesses still are
  t.is((await verify(made.token)).status, 404);
  t.deepEqual((await service.get(shares, owner)).json, { items: [], next_cursor: null });
  t.is((await service.get(path, owner)).status, 404);
  t.is((await service.ask(path, { method: 'DELETE', headers: owner })).status, 404);
  t.like((await service.get(`${path}/accesses`, owner)).json, { items });
});

test('An invalid share is refused with the name of the field', async (t) => {
  const { service, owner, ask, remove, shares, assetId, share, verify, change } = await given(t);
  const other = await service.makeProject(owner);
  const past = service.clock.now().toISOString();
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ password: 'abc' }, /^password /],
    [{ password: 'x'.repeat(129) }, /^password /],
    [{ expires_at: past }, /^expires_at /],
    [{ max_uses: 0 }, /^max_uses /],
    [{ max_uses: 10_001 }, /^max_uses /],
    [{ name: 'no such field' }, /name/],
  ];
  const { id, token } = await share();
  for (const [fields, message] of wrong) {
    for (const answer of [
      await ask({ asset_id: assetId, ...fields }),
      await change(`${shares}/${id}`, fields),
    ]) {
      t.is(answer.status, 400, JSON.stringify(fields));
      t.regex((answer.json as { message: string }).message, message);
    }
  }
  // Characters count, not bytes. An asset of another project does not exist
  t.is((await ask({ asset_id: assetId, password: '密码密码' })).status, 201);
  const elsewhere = `/api/v1/projects/${other}/shares`;
  t.is((await verify(token)).status, 200);
  t.is((await service.post(elsewhere, { asset_id: assetId, password }, owner)).status, 404);
  t.is((await service.get(`${elsewhere}/${id}`, owner)).status, 404);
  t.is((await service.get(`${elsewhere}/${id}/accesses`, owner)).status, 404);
  t.is((await change(`${elsewhere}/${id}`, { max_uses: 1 })).status, 404);
  t.is((await remove(`${elsewhere}/${id}`)).status, 404);
});

test('A share of another project, and a revoked one, is 404 with any revision in If-Match', async (t) => {
  const { service, owner, shares, share, change } = await given(t);
  const [{ id: open }, { id: revoked }] = [await share(), await share()];
  await service.ask(`${shares}/${revoked}`, { method: 'DELETE', headers: owner });
  const elsewhere = `/api/v1/projects/${await service.makeProject(owner)}/shares/${open}`;
  for (const path of [elsewhere, `${shares}/${revoked}`]) {
    for (const tag of ['"0-aaaaaaaaaaaaaaaaaaaaaa"', '"7-x"']) {
      const headers = { ...owner, 'if-match': tag };
      t.is((await change(path, { max_uses: 1 }, headers)).status, 404);
      // Nothing is hashed or sealed for it, and no rule of passwords comes first.
      t.is((await change(path, { password: 'x' }, headers)).status, 404);
      t.is((await service.ask(path, { method: 'DELETE', headers })).status, 404);
    }
  }
});

test('A repeated creation with the same Idempotency-Key makes no second share', async (t) => {
  const { service, owner, shares, assetId } = await given(t);
  const headers = { ...owner, 'idempotency-key': 'share-1' };
  const [one, other] = [
    await service.post(shares, { asset_id: assetId, password }, headers),
    await service.post(shares, { asset_id: assetId, password }, headers),
  ];
  t.is(one.text, other.text);
  t.is(((await service.get(shares, owner)).json as { items: unknown[] }).items.length, 1);
});

test('Opening with an Idempotency-Key counts one use, and checks and signs each time', async (t) => {
  const { service, owner, shares, share, verify, change } = await given(t);
  const { id, token } = await share({ max_uses: 1 });
  const key = { 'idempotency-key': 'open-1' };
  const first = await verify(token, password, key);
  t.is(first.status, 200, first.text);
  service.clock.advance(10 * 60_000);
  const again = await verify(token, password, key);
  t.is(again.status, 200, again.text);
  // The links are of another window, and one use is counted
  const link = (answer: Answer): string => (answer.json as Opened).data.media[0]?.['url'] ?? '';
  t.not(link(first), link(again));
  t.like(again.json, { data: { share: { remaining_uses: 0 } } });
  t.is((await verify(token)).status, 404);
  const { items } = (await service.get(`${shares}/${id}/accesses`, owner)).json as { items: unknown[] };
  t.is(items.length, 1);
  // Another body is another request, and a password that is no longer right opens nothing
  t.is((await verify(token, 'something else', key)).status, 409);
  await change(`${shares}/${id}`, { password: 'another one' });
  t.is((await verify(token, password, key)).status, 401);
});

test('A session ends with the password, the share and its end', async (t) => {
  const { service, owner, shares, share, verify, renew, change } = await given(t);
  const open = async (terms = {}) => {
    const made = await share(terms);
    const session = sessionOf(await verify(made.token));
    t.is((await renew(made.token, session)).status, 200);
    return { ...made, session };
  };
  const over = async ({ token, session }: { token: string; session: string }): Promise<void> => {
    t.deepEqual(codeOf(await renew(token, session)), [401, 'invalid_credentials']);
  };
  // A new password
  const changed = await open();
  t.is((await change(`${shares}/${changed.id}`, { password: 'another one' })).status, 200);
  await over(changed);
  const reopened = { ...changed, session: sessionOf(await verify(changed.token, 'another one')) };
  t.is((await renew(reopened.token, reopened.session)).status, 200);
  // Other changes end no session, except an earlier end
  const kept = await open();
  await change(`${shares}/${kept.id}`, { allow_download: false });
  const renewed = await renew(kept.token, kept.session);
  t.is(renewed.status, 200);
  t.true(renewed.text.includes('response-content-disposition=inline'));
  const soon = new Date(service.clock.now().getTime() + 60_000).toISOString();
  await change(`${shares}/${kept.id}`, { expires_at: soon });
  t.like((await renew(kept.token, kept.session)).json, {
    data: { expires_at: soon, media: [{ expires_at: soon }] },
  });
  service.clock.advance(60_000);
  await over(kept);
  // A revocation
  const revoked = await open();
  await service.ask(`${shares}/${revoked.id}`, { method: 'DELETE', headers: owner });
  await over(revoked);
  // A used-up share keeps its sessions, because the password was right
  const last = await open({ max_uses: 1 });
  t.is((await renew(last.token, last.session)).status, 200);
  // The session of another share, an invented one and a changed one
  await over({ token: last.token, session: reopened.session });
  await over({ token: last.token, session: 's1.nonsense' });
  const otherEnd = last.session.endsWith('A') ? 'E' : 'A';
  await over({ token: last.token, session: `${last.session.slice(0, -1)}${otherEnd}` });
  await over({ token: 'x'.repeat(22), session: last.session });
  // The end after 12 hours
  service.clock.advance(12 * 3_600_000 - 1);
  t.is((await renew(last.token, last.session)).status, 200);
  service.clock.advance(1);
  await over(last);
});

test('A session of a share whose media cannot be served is 404', async (t) => {
  const { service, owner, project, storageId, share, verify, renew } = await given(t);
  const { token } = await share();
  const session = sessionOf(await verify(token));
  const disable = `/api/v1/projects/${project}/storages/${storageId}/disable`;
  t.is((await service.post(disable, {}, owner)).status, 200);
  t.is((await renew(token, session)).status, 404);
  t.is((await verify(token)).status, 404);
});

test('Blanks around a password count neither when it is set nor when it is tried', async (t) => {
  // Given
  let hashes = 0;
  const { service, owner, shares, share, verify, change } = await given(t, {
    passwords: { onHash: () => (hashes += 1) },
  });
  const { id, token } = await share({ password: '\t open sesame\n' });
  const opens = async (...tries: readonly string[]) => {
    for (const tried of tries) t.is((await verify(token, tried)).status, 200, tried);
  };
  // When, Then
  await opens('open sesame', '\topen sesame\u00a0', '\t open sesame\n');
  t.is((await change(`${shares}/${id}`, { password: ' sesame, open ' })).status, 200);
  await opens('sesame, open', ' sesame, open ');
  for (const blank of ['      ', ' abc ']) {
    t.is((await service.post(shares, { tag: 'rivers', password: blank }, owner)).status, 400, blank);
    t.is((await change(`${shares}/${id}`, { password: blank })).status, 400, blank);
  }
  // and a wrong one costs one hash and one attempt
  hashes = 0;
  for (let tried = 0; tried < 5; tried += 1) t.is((await verify(token, ` wrong ${tried} `)).status, 401);
  t.is(hashes, 5);
  t.is((await verify(token, 'sesame, open')).status, 429);
});

test('After 5 wrong passwords one client must wait, and no other client', async (t) => {
  const { service, owner, shares, share, verify } = await given(t);
  const { id, token } = await share();
  const [guesser, friend] = [from('198.51.100.1'), from('198.51.100.2')];
  for (let tried = 0; tried < 5; tried += 1) {
    const answer = await verify(token, `wrong ${tried}`, guesser);
    t.is(answer.status, 401);
    t.deepEqual(answer.json, { code: 'invalid_credentials', message: 'the password is wrong' });
  }
  const refused = await verify(token, password, guesser);
  t.is(refused.status, 429);
  t.like(refused.json, { code: 'too_many_attempts' });
  t.is(refused.headers.get('retry-after'), '60');
  t.is((await verify(token, password, friend)).status, 200);
  // The owner sees it, once
  await service.commands.background.settled();
  await verify(token, password, guesser);
  await service.commands.background.settled();
  const path = `${shares}/${id}`;
  t.like((await service.get(path, owner)).json, { throttled_at: service.clock.now().toISOString() });
  // After the wait the right password works
  service.clock.advance(60_000);
  t.is((await verify(token, password, guesser)).status, 200);
});

test('A client gets 30 attempts a minute before any hashing', async (t) => {
  let hashes = 0;
  const { verify } = await given(t, { passwords: { onHash: () => (hashes += 1) } });
  hashes = 0;
  for (let tried = 0; tried < 30; tried += 1) t.is((await verify('x'.repeat(22))).status, 404);
  t.deepEqual(codeOf(await verify('x'.repeat(22))), [429, 'rate_limited']);
  t.is(hashes, 30);
});
