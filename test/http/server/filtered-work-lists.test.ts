import test from 'ava';
import { pluck } from '../../support/given/pluck.js';
import type { PaymentFact } from '../../../src/areas/payments/domain/fact.js';
import { makeListReader } from '../../support/clients/list-reader.js';
import { addAsset } from '../../support/given/given-share.js';
import { givenPayments } from '../../support/given/payments-over-http.js';
import { startTestService } from '../../support/servers/http-service.js';

test('Accesses of a share are listed by their time and by whether the visitor saved something', async (t) => {
  const service = await startTestService(t);
  const { stores, clock, makeProject, post, get } = service;
  const owner = await service.signUp('owner');
  await service.verify('owner');
  const projectId = await makeProject(owner);
  const at = `/api/v1/projects/${projectId}`;
  const storage = { name: 'a', provider: 's3', bucket: 'rushes', region: 'eu-central-1' };
  const keys = { access_key: 'AK', secret_key: 'SK' };
  const bound = await post(`${at}/storages`, { ...storage, credentials: keys }, owner);
  const asset_id = await addAsset(stores, { projectId, storageId: (bound.json as { id: string }).id });
  const password = 'open sesame';
  const made = await post(`${at}/shares`, { password, asset_id }, owner);
  t.is(made.status, 201, made.text);
  const { id, token } = made.json as { id: string; token: string };
  const times: string[] = [];
  for (const saves of [false, true, false, true, false]) {
    clock.advance(1_000);
    const opened = await post(`/api/v1/shares/${token}/verify`, { password });
    t.is(opened.status, 200, opened.text);
    times.push(clock.now().toISOString());
    if (!saves) continue;
    const { data } = opened.json as { data: { share_session: string } };
    const renewal = { share_session: data.share_session, download: asset_id };
    const saved = await post(`/api/v1/shares/${token}/media`, renewal);
    t.is(saved.status, 200, saved.text);
  }
  const { list, refuses } = makeListReader(t, service, owner);
  const path = `${at}/shares/${id}/accesses`;
  const newest = times.toReversed();
  const [, second = '', third = '', fourth = ''] = times;
  t.deepEqual(await list(path, '', 'at'), newest);
  t.deepEqual(await list(path, 'sort=created_at', 'at'), times);
  t.deepEqual(await list(path, 'downloaded=true', 'at'), [fourth, second]);
  t.deepEqual(await list(path, 'downloaded=false&sort=created_at', 'at'), [times[0], third, times[4]]);
  for (const sort of ['sort=-created_at', 'sort=created_at']) {
    const inOrder = (found: readonly unknown[]) => (sort === 'sort=created_at' ? found : found.toReversed());
    // Both bounds are exclusive
    t.deepEqual(await list(path, `${sort}&opened_after=${second}`, 'at'), inOrder(times.slice(2)));
    t.deepEqual(await list(path, `${sort}&opened_before=${fourth}`, 'at'), inOrder(times.slice(0, 3)));
    t.deepEqual(await list(path, `${sort}&opened_after=${second}&opened_before=${fourth}`, 'at'), [third]);
    t.deepEqual(await list(path, `${sort}&opened_after=${fourth}&opened_before=${second}`, 'at'), []);
    t.deepEqual(await list(path, `${sort}&opened_after=${second}&downloaded=true`, 'at'), [fourth]);
  }
  for (const wrong of ['opened_after=today', 'downloaded=yes', 'sort=at']) await refuses(path, wrong);

  // A revoked share with accesses outside the filter is no missing share
  t.is((await service.ask(`${at}/shares/${id}`, { method: 'DELETE', headers: owner })).status, 204);
  t.deepEqual(await list(path, `opened_before=${times[0] ?? ''}`, 'at'), []);
  const never = '/00000000-0000-7000-8000-000000000000/accesses';
  t.is((await get(`${at}/shares${never}?downloaded=true`, owner)).status, 404);
});

const paid = (amount = 999): PaymentFact => ({ kind: 'paid', amount, currency: 'USD' });

test('Payments that wait are listed by platform and reason, and those in review by order', async (t) => {
  const service = await givenPayments(t);
  const { operator, place, send, stores } = service;
  const { list, refuses } = makeListReader(t, service, operator);
  const path = '/api/v1/admin/payments';
  const unknown: string[] = [];
  for (const transaction of ['u1', 'u2', 'u3']) {
    unknown.push(await send({ number: 'NOT-OURS', transaction, fact: paid() }));
    stores.clock.advance(1);
  }
  const unreadable = await send({
    number: null,
    transaction: 'u4',
    fact: { kind: 'unreadable', field: 'amount' },
  });
  const unmatched = `${path}/unmatched`;
  t.deepEqual(await list(unmatched, '', 'id'), [...unknown, unreadable]);
  t.deepEqual(await list(unmatched, 'reason=unknown_order', 'id'), unknown);
  t.deepEqual(await list(unmatched, 'reason=unreadable', 'id'), [unreadable]);
  t.deepEqual(await list(unmatched, 'provider=standard&reason=unreadable', 'id'), [unreadable]);
  t.deepEqual(await list(unmatched, 'provider=stripe', 'id'), []);

  const [first, second] = [await place(), await place()];
  const ids: string[] = [];
  for (const [index, { number }] of [first, second, second].entries()) {
    ids.push(`${await send({ number, transaction: `t${index}`, fact: paid(500 + index) })}.0`);
  }
  const review = `${path}/review`;
  t.deepEqual((await list(review, '', 'id')).sort(), ids.toSorted());
  t.deepEqual(await list(review, `order_id=${first.id}`, 'id'), [ids[0]]);
  t.deepEqual((await list(review, `order_id=${second.id}&reason=amount`, 'id')).sort(), ids.slice(1).sort());
  t.deepEqual(await list(review, 'reason=currency', 'id'), []);
  t.is((await list(review, 'provider=standard', 'id')).length, 3);
  t.deepEqual(await list(review, 'provider=alipay', 'id'), []);
  for (const wrong of ['provider=cash', 'reason=amount']) await refuses(unmatched, wrong);
  for (const wrong of ['order_id=x', 'reason=unreadable']) await refuses(review, wrong);
});

test('Nodes are listed in order of name, where capitals and accents do not count, and equal names by age', async (t) => {
  const service = await startTestService(t);
  const { post, get, clock } = service;
  const owner = await service.signUpAs('operator', 'owner');
  const { list, refuses } = makeListReader(t, service, owner);
  const path = '/api/v1/admin/nodes';
  for (const [n, name] of ['edge-b', 'Édge-a', 'edge-C', 'edge-b', 'zug', '山'].entries()) {
    clock.advance(1);
    const ip_address = `192.0.2.${n + 1}`;
    const node_type = n === 4 ? 'high_defense' : 'normal';
    t.is((await post(path, { name, ip_address, node_type }, owner)).status, 201);
  }
  const byName = ['192.0.2.2', '192.0.2.1', '192.0.2.4', '192.0.2.3', '192.0.2.5', '192.0.2.6'];
  t.deepEqual(await list(path, 'sort=name', 'ip_address'), byName);
  t.deepEqual(await list(path, 'sort=-name', 'ip_address'), byName.toReversed());
  t.deepEqual(
    await list(path, 'sort=name&node_type=normal', 'ip_address'),
    byName.filter((address) => address !== '192.0.2.5'),
  );
  t.deepEqual(
    await list(path, 'sort=-created_at', 'name'),
    ['edge-b', 'Édge-a', 'edge-C', 'edge-b', 'zug', '山'].toReversed(),
  );
  // A node that is added between two pages moves no other node to another page
  const first = (await get(`${path}?sort=name&limit=2`, owner)).json as { next_cursor: string };
  t.is((await post(path, { name: 'a', ip_address: '192.0.2.9' }, owner)).status, 201);
  const second = await get(`${path}?sort=name&limit=2&cursor=${first.next_cursor}`, owner);
  const { items } = second.json as { items: { ip_address: string }[] };
  t.deepEqual(pluck(items, 'ip_address'), byName.slice(2, 4));
  await refuses(path, `sort=-name&cursor=${first.next_cursor}`);
  await refuses(path, 'sort=status');
});
