import test, { type ExecutionContext } from 'ava';
import jsQrModule from 'jsqr';
import { sharePassword as password } from '../../../support/given/given-share.js';
import type { Answer } from '../../../support/clients/http-app.js';
import { qrCodeSvg } from '../../../../src/areas/shares/routes/qr-code.js';
import { logOf } from '../../../support/given/log.js';
import { givenSharing } from '../../../support/given/sharing-service.js';

async function given(t: ExecutionContext) {
  const scene = await givenSharing(t);
  const describe = (token: string): Promise<Answer> => scene.service.get(`/api/v1/shares/${token}`);
  return { ...scene, describe };
}

interface OpenedJson {
  readonly data: {
    readonly share: Record<string, unknown>;
    readonly assets: readonly { readonly id: string; readonly name: string; readonly media: unknown[] }[];
    readonly asset: { readonly id: string };
    readonly media: readonly unknown[];
    readonly share_session: string;
  };
}
const opened = (answer: Answer): OpenedJson['data'] => (answer.json as OpenedJson).data;

test('Before the password a visitor sees the project, and nothing of a share that does not open', async (t) => {
  const { service, owner, base, add, share, change, remove, verify, describe } = await given(t);
  const asset_id = await add('one.png');
  const { id, token } = await share({ asset_id });
  t.is((await change(base, { accent_color: '#0A7F5A' })).status, 200);
  t.like((await service.get(base, owner)).json, { accent_color: '#0a7f5a', open_shares: false });
  const shown = await describe(token);
  t.is(shown.headers.get('cache-control'), 'no-store');
  const { name } = (await service.get(base, owner)).json as { name: string };
  t.deepEqual(shown.json, {
    ...{ code: 'ok', message: 'ok' },
    data: { password_required: true, limited_uses: false, project: { name, accent_color: '#0a7f5a' } },
  });
  t.is((await change(base, { accent_color: 'green' })).status, 400);
  // Every share that does not open has the reply of an unknown token, here and in verify
  const [usedUp, expired] = [
    await share({ asset_id, max_uses: 1 }),
    await share({ asset_id, expires_in: '1h' }),
  ];
  t.like((await describe(usedUp.token)).json, { data: { limited_uses: true } });
  t.is((await verify(usedUp.token)).status, 200);
  t.is((await describe(expired.token)).status, 200);
  t.is((await remove(`${base}/shares/${id}`)).status, 204);
  service.clock.advance(3_600_000);
  const unknown = await describe('x'.repeat(22));
  t.is(unknown.status, 404);
  for (const closed of [usedUp.token, expired.token, token]) {
    const answer = await describe(closed);
    t.deepEqual([answer.status, answer.json], [404, unknown.json]);
    t.is((await verify(closed)).status, 404);
  }
});

test('A share shows its title and note to visitors, and no event has them in clear', async (t) => {
  const { service, owner, base, add, share, change, verify } = await given(t);
  const { id, token } = await share({
    asset_id: await add('one.png'),
    title: ' For Ada ',
    note: 'Line 1\nLine 2',
  });
  t.like(opened(await verify(token)).share, { title: 'For Ada', note: 'Line 1\nLine 2' });
  const path = `${base}/shares/${id}`;
  t.like((await service.get(path, owner)).json, { title: 'For Ada', note: 'Line 1\nLine 2' });
  // The same text again changes nothing; another one and none do
  const before = (await service.get(path, owner)).headers.get('etag');
  t.is((await change(path, { title: 'For Ada' })).headers.get('etag'), before);
  t.like((await change(path, { title: 'For Bob', note: null })).json, { title: 'For Bob', note: null });
  t.like(opened(await verify(token)).share, { title: 'For Bob', note: null });
  t.is((await change(path, { title: 'x'.repeat(121) })).status, 400);
  t.is((await change(path, { note: 'x'.repeat(2_001) })).status, 400);
  const log = await logOf(service.stores);
  t.true(log.some(({ type }) => type === 'ShareCreated'));
  t.notRegex(JSON.stringify(log.map(({ data }) => data)), /For (?:Ada|Bob)|Line 1/);
});

test('A share of several assets opens them in order, without the removed ones, and ends with the last', async (t) => {
  const { service, owner, base, add, share, remove, verify, renew } = await given(t);
  const ids = [await add('one.png'), await add('two.png'), await add('three.png')] as const;
  const { id, token } = await share({ asset_ids: ids });
  const first = opened(await verify(token));
  t.deepEqual(
    first.assets.map((asset) => [asset.id, asset.name]),
    [
      [ids[0], 'one.png'],
      [ids[1], 'two.png'],
      [ids[2], 'three.png'],
    ],
  );
  t.is(first.asset.id, ids[0]);
  t.deepEqual(first.media, first.assets[0]?.media);
  // When the first asset is removed
  await remove(`${base}/assets/${ids[0]}`);
  t.deepEqual(
    opened(await verify(token)).assets.map((asset) => asset.id),
    ids.slice(1),
  );
  t.deepEqual(
    opened(await renew(token, first.share_session)).assets.map((asset) => asset.id),
    ids.slice(1),
  );
  // And the others
  for (const asset of ids.slice(1)) await remove(`${base}/assets/${asset}`);
  t.is((await verify(token)).status, 404);
  t.like((await service.get(`${base}/shares/${id}`, owner)).json, { asset_ids: ids });
});

test('A share names one or several distinct assets of the project', async (t) => {
  const { ask, add } = await given(t);
  const one = await add('one.png');
  const wrong: readonly [Record<string, unknown>, number][] = [
    [{}, 400],
    [{ asset_id: one, asset_ids: [one] }, 400],
    [{ asset_ids: [] }, 400],
    [{ asset_ids: [one, one] }, 400],
    [
      {
        asset_ids: Array.from(
          { length: 51 },
          (_, n) => `019b7d00-0000-7000-8000-${String(n).padStart(12, '0')}`,
        ),
      },
      400,
    ],
    [{ asset_ids: [one, '019b7d00-0000-7000-8000-0000000000ff'] }, 404],
    [{ asset_id: one, expires_in: '2h' }, 400],
    [{ asset_id: one, expires_in: '1h', expires_at: null }, 400],
    [{ asset_id: one, expires_at: '9999-12-31T23:59:59-01:00' }, 400],
    [{ asset_id: one, frame_ancestors: ['http://www.example.com'] }, 400],
    [{ asset_id: one, frame_ancestors: ['https://*.com'] }, 400],
    [{ asset_id: one, frame_ancestors: ["https://www.example.com; script-src 'unsafe-inline'"] }, 400],
    [{ asset_id: one, password: null }, 409],
  ];
  for (const [fields, status] of wrong) {
    const answer = await ask(fields);
    t.is(answer.status, status, `${JSON.stringify(fields)}: ${answer.text}`);
  }
});

test('A preset end counts from the request', async (t) => {
  const { service, owner, base, add, share, change } = await given(t);
  const asset_id = await add('one.png');
  const lives = { '1h': 3_600_000, '1d': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 };
  const { id } = await share({ asset_id });
  for (const [expires_in, life] of Object.entries(lives)) {
    const expires_at = new Date(service.clock.now().getTime() + life).toISOString();
    t.like(await share({ asset_id, expires_in }), { expires_at });
    t.like((await change(`${base}/shares/${id}`, { expires_in })).json, { expires_at });
  }
  t.like((await change(`${base}/shares/${id}`, { expires_at: null })).json, { expires_at: null });
  t.like((await service.get(`${base}/shares/${id}`, owner)).json, { expires_at: null });
});

test('A visitor with a session of the share learns why it opens no more, and a stranger does not', async (t) => {
  const { service, base, add, share, remove, verify } = await given(t);
  const asset_id = await add('one.png');
  const end = new Date(service.clock.now().getTime() + 3_600_000).toISOString();
  const [usedUp, expired, withdrawn] = [
    await share({ asset_id, max_uses: 1 }),
    await share({ asset_id, expires_at: end }),
    await share({ asset_id }),
  ];
  const opening = [await verify(usedUp.token), await verify(expired.token), await verify(withdrawn.token)];
  const sessions = opening.map((answer) => opened(answer).share_session);
  await remove(`${base}/shares/${withdrawn.id}`);
  service.clock.advance(13 * 3_600_000);
  const asked = (token: string, share_session: string | undefined, tried: string | null = password) =>
    service.post(`/api/v1/shares/${token}/verify`, { password: tried, share_session });
  const rows = [
    [usedUp, 'used_up'],
    [expired, 'expired'],
    [withdrawn, 'withdrawn'],
  ] as const;
  for (const [index, [{ token }, reason]] of rows.entries()) {
    const answer = await asked(token, sessions[index]);
    t.is(answer.status, 404);
    t.like(answer.json, { code: 'not_found', reason });
    t.like((await asked(token, sessions[index], null)).json, { reason });
    // A stranger, and a visitor of another share, get the reply of an unknown token.
    const unknown = await asked('x'.repeat(22), sessions[index]);
    for (const session of [undefined, '', 's1.nonsense', sessions[(index + 1) % 3]]) {
      const other = await asked(token, session);
      t.deepEqual([other.status, other.json], [404, unknown.json]);
    }
  }
});

test('A share with show_sender shows the nickname of the sharer after the password, and never the address', async (t) => {
  const { service, base, add, share, verify, describe, owner, change } = await given(t);
  const asset_id = await add('one.png');
  const plain = await share({ asset_id });
  t.like(plain, { show_sender: false });
  t.is(opened(await verify(plain.token)).share['sender'], null);
  t.like((await change(`${base}/shares/${plain.id}`, { show_sender: true })).json, { show_sender: true });
  const { data } = (await service.get('/api/v1/auth/me', owner)).json as { data: { nickname: string } };
  const answer = await verify(plain.token);
  t.is(opened(answer).share['sender'], data.nickname);
  t.false(answer.text.includes('owner@example.com'));
  t.false((await describe(plain.token)).text.includes('sender'));
  t.like(await share({ asset_id, show_sender: true }), { show_sender: true });
});

test('A share without a password opens while the project allows it', async (t) => {
  const { service, owner, base, ask, add, share, change, verify, renew, describe } = await given(t);
  const asset_id = await add('one.png');
  t.like((await change(base, { open_shares: true })).json, { open_shares: true });
  const { id, token } = await share({ asset_id, password: null, max_uses: 3 });
  const path = `${base}/shares/${id}`;
  t.like((await service.get(path, owner)).json, { password_required: false });
  t.like((await describe(token)).json, { data: { password_required: false } });
  const first = await verify(token, null);
  t.is(first.status, 200, first.text);
  // A password that no share asks for does no harm
  t.like(opened(await verify(token)).share, { remaining_uses: 1 });
  // When the owner forbids such shares, this one closes, and its sessions too
  await change(base, { open_shares: false });
  t.is((await verify(token, null)).status, 404);
  const again = () => renew(token, opened(first).share_session);
  t.is((await again()).status, 404);
  // A password ends its sessions and opens it
  t.is((await change(path, { password })).status, 200);
  t.is((await again()).status, 401);
  t.is((await verify(token, null)).status, 401);
  t.like(opened(await verify(token)).share, { remaining_uses: 0 });
  t.is((await change(path, { password: null })).status, 409);
  t.is((await ask({ asset_id, password: null })).status, 409);
});

/** jsQR is a CommonJS module with a `default`. */
const jsQr = jsQrModule as unknown as { readonly default: typeof jsQrModule.default };

/** Draws the squares of a path on pixels, as a browser does at 4 pixels a module, and reads them with another library. */
function decodeQr(svg: string): string | null {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const width = size * 4;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let dot = 0; dot < 16; dot += 1) {
      const at = ((Number(y) * 4 + (dot >> 2)) * width + Number(x) * 4 + (dot & 3)) * 4;
      pixels.fill(0, at, at + 3);
    }
  }
  return jsQr.default(pixels, width, width)?.data ?? null;
}

test('The QR code of a share is its URL', async (t) => {
  const { service, owner, base, add, share } = await given(t);
  const { id, token } = await share({ asset_id: await add('one.png') });
  const picture = await service.get(`${base}/shares/${id}/qr`, owner);
  t.is(picture.status, 200, picture.text);
  t.is(picture.headers.get('content-type'), 'image/svg+xml; charset=utf-8');
  t.is(picture.headers.get('cache-control'), 'no-store');
  t.is(decodeQr(picture.text), `http://127.0.0.1:8080/s/${token}`);
  t.is((await service.get(`${base}/shares/019b7d00-0000-7000-8000-0000000000ff/qr`, owner)).status, 404);
  // Long and non-ASCII templates too
  const long = `https://${'x'.repeat(200)}.example/${'y'.repeat(300)}`;
  t.is(decodeQr(qrCodeSvg(long)), long);
});

test('Only pages of the share’s origins may frame it, and only while it opens', async (t) => {
  const { service, base, add, share, change } = await given(t);
  const asset_id = await add('one.png');
  const page = async (token: string): Promise<{ policy: string; tag: string | null }> => {
    const { status, headers } = await service.get(`/s/${token}`);
    t.is(status, 200);
    return { policy: headers.get('content-security-policy') ?? '', tag: headers.get('etag') };
  };
  const plain = await page((await share({ asset_id })).token);
  t.regex(plain.policy, /; frame-ancestors 'none'(?:;|$)/);
  t.deepEqual(await page('x'.repeat(22)), plain);
  const frame_ancestors = ['https://WWW.Example.com:443', 'https://*.example.org:8443'];
  const { id, token } = await share({ asset_id, frame_ancestors });
  const framed = await page(token);
  const named = 'frame-ancestors https://www.example.com https://*.example.org:8443';
  t.is(framed.policy, plain.policy.replace("frame-ancestors 'none'", named));
  t.not(framed.tag, plain.tag);
  await change(`${base}/shares/${id}`, { expires_in: '1h' });
  service.clock.advance(3_600_000);
  t.deepEqual(await page(token), plain);
});
