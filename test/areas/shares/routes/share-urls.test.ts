import test from 'ava';
import { fieldOf, itemsOf } from '../../../support/given/replies.js';
import { givenSharing } from '../../../support/given/sharing-service.js';

test('Only editors and keys with share:write see what opens a share', async (t) => {
  // Given a share, members of each role, an auditor and keys
  const { service, owner, base, add, ask } = await givenSharing(t);
  await service.verify('owner');
  const made = await ask({ asset_id: await add('one.png') });
  const [id, url, token] = [fieldOf(made, 'id'), fieldOf(made, 'url'), fieldOf(made, 'token')];
  t.regex(url, /\/s\/[0-9A-Za-z]{22}$/);
  const join = async (role: string) => {
    const headers = await service.signUp(role);
    await service.verify(role);
    const added = await service.post(`${base}/members`, { email: `${role}@example.com`, role }, owner);
    t.is(added.status, 201, added.text);
    return headers;
  };
  const key = async (...scopes: readonly string[]) => ({
    'x-api-key': fieldOf(await service.post(`${base}/api-keys`, { name: 'k', scopes }, owner), 'key'),
  });
  const callers = {
    owner,
    editor: await join('editor'),
    'a key that writes': await key('share:read', 'share:write'),
    viewer: await join('viewer'),
    auditor: await service.signUpAs('auditor'),
    'a key that reads': await key('share:read'),
  };
  // When each of them reads the share, the list and the QR code
  const path = `${base}/shares/${id}`;
  for (const [who, headers] of Object.entries(callers)) {
    const maySee = ['owner', 'editor', 'a key that writes'].includes(who);
    const seen = maySee ? { url, token } : { url: null, token: null };
    const one = await service.get(path, headers);
    t.is(one.status, 200, one.text);
    t.like(one.json, { id, ...seen }, who);
    const [listed = {}] = itemsOf(await service.get(`${base}/shares`, headers));
    t.like(listed, { id, ...seen }, who);
    const picture = await service.get(`${path}/qr`, headers);
    t.is(picture.status, maySee ? 200 : 403, who);
    // Then no other reply names what opens it
    if (!maySee) {
      for (const more of ['/accesses', '']) {
        t.false((await service.get(`${path}${more}`, headers)).text.includes(token), `${who} ${more}`);
      }
    }
  }
  // and a key that writes alone draws the QR code
  t.is((await service.get(`${path}/qr`, await key('share:write'))).status, 200);
  // and strangers do not learn that the share exists
  t.is((await service.get(`${path}/qr`, await service.signUp('stranger'))).status, 404);
});

test('Blanks around the longest password do not make it wrong', async (t) => {
  const { service, add, ask } = await givenSharing(t);
  const password = 'x'.repeat(128);
  const made = await ask({ asset_id: await add('one.png'), password });
  const verify = (tried: string) =>
    service.post(`/api/v1/shares/${fieldOf(made, 'token')}/verify`, { password: tried });
  for (const tried of [password, ` ${password}\r\n`]) t.is((await verify(tried)).status, 200, tried);
  t.is((await verify(`${password}x`)).status, 400);
});
