import test from 'ava';
import { asObject, textOf } from '../../../support/clients/service-client.js';
import { addAsset } from '../../../support/given/given-share.js';
import { startTestService } from '../../../support/servers/http-service.js';

const storage = {
  ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' },
  credentials: { access_key: 'a', secret_key: 's' },
};

test('Only editors and keys with share:write see what opens a share', async (t) => {
  // Given a share, members of each role, an auditor and keys
  const service = await startTestService(t);
  const owner = await service.signUp('owner');
  await service.verify('owner');
  const projectId = await service.makeProject(owner);
  const base = `/api/v1/projects/${projectId}`;
  const bound = await service.post(`${base}/storages`, storage, owner);
  const storageId = textOf(asObject(bound.json), 'id');
  const asset_id = await addAsset(service.stores, { projectId, storageId });
  const made = await service.post(`${base}/shares`, { asset_id, password: 'open sesame' }, owner);
  t.is(made.status, 201, made.text);
  const share = asObject(made.json);
  const [id, url, token] = [textOf(share, 'id'), textOf(share, 'url'), textOf(share, 'token')];
  t.regex(url, /\/s\/[0-9A-Za-z]{22}$/);
  const join = async (role: string) => {
    const headers = await service.signUp(role);
    await service.verify(role);
    const added = await service.post(`${base}/members`, { email: `${role}@example.com`, role }, owner);
    t.is(added.status, 201, added.text);
    return headers;
  };
  const key = async (...scopes: readonly string[]) => {
    const issued = await service.post(`${base}/api-keys`, { name: 'k', scopes }, owner);
    return { 'x-api-key': textOf(asObject(issued.json), 'key') };
  };
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
    const { items } = asObject((await service.get(`${base}/shares`, headers)).json);
    t.like((items as readonly unknown[])[0], { id, ...seen }, who);
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
