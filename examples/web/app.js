// A page that shares a file by the client of clients/typescript. Each form is one step, and shows the next one.
import { makeStowageClient, must, uploadFile } from 'stowage-client';

const { url } = await (await fetch('/settings.json')).json();
const client = makeStowageClient({
  url,
  tokens: JSON.parse(sessionStorage.getItem('tokens') ?? 'null'),
  onTokens: (tokens) => sessionStorage.setItem('tokens', JSON.stringify(tokens)),
  // The device outlives the tab: the next sign-in from here is that of a known one.
  deviceToken: localStorage.getItem('device'),
  onDeviceToken: (token) => localStorage.setItem('device', token),
});
const { api } = client;
const state = { projectId: '', assetId: '', file: '' };
const form = (id) => document.getElementById(id);

step('account', async (fields, button) => {
  const account = { email: fields.get('email'), password: fields.get('password') };
  await (button.name === 'register' ? client.register(account) : client.signIn(account));
  const { data } = await must(api.GET('/api/v1/auth/me'));
  return data.email_verified ? 'project' : 'verify';
});

step('verify', async (fields) => {
  await must(api.POST('/api/v1/auth/email/verify', { body: { code: fields.get('code') } }));
  return 'project';
});

step('project', async (fields) => {
  const { id } = await must(api.POST('/api/v1/projects', { body: { name: fields.get('name') } }));
  state.projectId = id;
  form('grant').textContent = `An operator allows it first: npx stowage project grant ${id} allow_s3`;
  return 'bind';
});

step('bind', async (fields) => {
  const [access_key, secret_key] = [fields.get('access_key'), fields.get('secret_key')];
  const path = { projectId: state.projectId };
  const { id } = await must(
    api.POST('/api/v1/projects/{projectId}/storages', {
      params: { path },
      body: {
        ...{ name: fields.get('bucket'), provider: 's3', bucket: fields.get('bucket') },
        ...{ endpoint: fields.get('endpoint'), region: fields.get('region') },
        credentials: { access_key, secret_key },
      },
    }),
  );
  const params = { path: { ...path, storageId: id } };
  await must(api.POST('/api/v1/projects/{projectId}/storages/{storageId}/test', { params, body: {} }));
  const storage = await tested(params);
  if (storage.status !== 'active') throw new Error(storage.last_error);
  // The bucket refuses uploads of pages until a CORS rule allows their origin.
  if (storage.warnings.length > 0) {
    await must(api.POST('/api/v1/projects/{projectId}/storages/{storageId}/cors', { params, body: {} }));
  }
  return 'upload';
});

step('upload', async (fields) => {
  const file = fields.get('file');
  const path = { projectId: state.projectId };
  // The asset belongs to the file of the attempt before, so another file gets another asset.
  const chosen = JSON.stringify([file.name, file.size, file.lastModified]);
  if (state.file !== chosen) {
    const { id } = await must(
      api.POST('/api/v1/projects/{projectId}/assets', {
        params: { path },
        body: {
          ...{ name: file.name, object_key: `${crypto.randomUUID()}/${file.name}`, size: file.size },
          media_type: file.type || 'application/octet-stream',
        },
      }),
    );
    Object.assign(state, { assetId: id, file: chosen });
  }
  // After a failure the button goes on with the parts that the bucket does not have.
  await uploadFile(api, { ...path, assetId: state.assetId }, file, {
    onProgress: (sent, size) => {
      form('upload').querySelector('progress').value = sent / size;
    },
  });
  return 'share';
});

step('share', async (fields) => {
  const params = { path: { projectId: state.projectId } };
  const body = { asset_id: state.assetId, password: fields.get('password') };
  const share = await must(api.POST('/api/v1/projects/{projectId}/shares', { params, body }));
  const link = Object.assign(document.createElement('a'), { href: share.url, textContent: share.url });
  form('link').replaceChildren('Send this link to your visitors: ', link);
  return 'share';
});

/** Runs the work of a form when it is submitted, and shows the form that the work names, or the error. */
function step(id, work) {
  form(id).addEventListener('submit', async (event) => {
    event.preventDefault();
    const { submitter, target } = event;
    form('error').textContent = '';
    submitter.disabled = true;
    try {
      const next = await work(new FormData(target), submitter);
      form(id).hidden = id !== next;
      form(next).hidden = false;
    } catch (error) {
      form('error').textContent = error.message;
    } finally {
      submitter.disabled = false;
    }
  });
}

/** Returns the storage after its test. */
async function tested(params) {
  for (;;) {
    const storage = await must(api.GET('/api/v1/projects/{projectId}/storages/{storageId}', { params }));
    if (storage.status !== 'testing' && storage.status !== 'pending') return storage;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
