// A page that shares a file by the client of clients/typescript. Each step is a form, and its work names the next one.
import { makeStowageClient, must, uploadFile } from 'stowage-client';

const settings = await (await fetch('/settings.json')).json();
const client = makeStowageClient({
  url: settings.url,
  tokens: JSON.parse(sessionStorage.getItem('tokens') ?? 'null'),
  onTokens: (tokens) => sessionStorage.setItem('tokens', JSON.stringify(tokens)),
  // The device outlives the tab: the next sign-in from here is that of a known one.
  deviceToken: localStorage.getItem('device'),
  onDeviceToken: (token) => localStorage.setItem('device', token),
});
const { api } = client;
const steps = ['account', 'project', 'bucket', 'upload', 'share', 'done'];
const state = { projectId: '', assetId: '', file: '' };
const at = {
  shares: '/api/v1/projects/{projectId}/shares',
  share: '/api/v1/projects/{projectId}/shares/{shareId}',
  assets: '/api/v1/projects/{projectId}/assets',
  storages: '/api/v1/projects/{projectId}/storages',
  storage: '/api/v1/projects/{projectId}/storages/{storageId}',
};
const byId = (id) => document.getElementById(id);
const inProject = (more = {}) => ({ params: { path: { projectId: state.projectId, ...more } } });

step('account', async (fields, button) => {
  const account = { email: fields.get('email'), password: fields.get('password') };
  await (button.name === 'register' ? client.register(account) : client.signIn(account));
  return nextOfUser();
});

step('project', async (fields) => {
  const { id } = await must(api.POST('/api/v1/projects', { body: { name: fields.get('name') } }));
  state.projectId = id;
  return 'bucket';
});

step('bucket', async () => {
  const { access_key, secret_key, ...bucket } = await allowBucket();
  const body = { name: 'Example', provider: 's3', ...bucket, credentials: { access_key, secret_key } };
  const { id: storageId } = await must(api.POST(at.storages, { ...inProject(), body }));
  await must(api.POST(`${at.storage}/test`, { ...inProject({ storageId }), body: {} }));
  for (;;) {
    const storage = await must(api.GET(at.storage, inProject({ storageId })));
    if (storage.status === 'active') return 'upload';
    if (storage.status === 'failed') throw new Error(storage.last_error);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
});

step('upload', async (fields, button) => {
  const chosen = fields.get('file');
  const file = chosen.size > 0 ? chosen : await samplePicture();
  // The asset belongs to the file of the attempt before, so another file gets another asset.
  const name = JSON.stringify([file.name, file.size, file.lastModified]);
  if (state.file !== name) {
    const body = {
      ...{ name: file.name, object_key: `${crypto.randomUUID()}/${file.name}`, size: file.size },
      media_type: file.type || 'application/octet-stream',
    };
    const { id } = await must(api.POST(at.assets, { ...inProject(), body }));
    Object.assign(state, { assetId: id, file: name });
  }
  const bar = button.form.querySelector('progress');
  await uploadFile(api, { projectId: state.projectId, assetId: state.assetId }, file, {
    onProgress: (sent, size) => (bar.value = sent / size),
  });
  return 'share';
});

step('share', async (fields) => {
  const body = { asset_id: state.assetId, password: fields.get('password'), max_uses: 10 };
  const { url } = await must(api.POST(at.shares, { ...inProject(), body }));
  byId('link').href = url;
  byId('shared-password').textContent = body.password;
  return 'done';
});

byId('another').addEventListener('click', () => {
  byId('upload').reset();
  byId('upload').querySelector('progress').value = 0;
  state.file = '';
  void show('upload');
});
byId('sign-out').addEventListener('click', () =>
  attempt(byId('sign-out'), () => client.signOut().then(() => 'account')),
);

byId('account').elements.email.value = `ada-${crypto.randomUUID().slice(0, 8)}@example.org`;
byId('account').elements.password.value = `Rhine-${crypto.randomUUID().slice(0, 13)}`;
byId('endpoint').textContent = settings.endpoint;
for (const page of ['docs', 'audit']) byId(page).href = `${settings.url}/${page}`;
await attempt(document.body, async () => (client.tokens() === null ? 'account' : nextOfUser()));

/** Runs the work of a form when it is submitted, and shows the step that the work names, or the error. */
function step(id, work) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(event.submitter, () => work(new FormData(event.target), event.submitter));
  });
}

async function attempt(button, work) {
  byId('error').textContent = '';
  button.disabled = true;
  try {
    await show(await work());
  } catch (error) {
    byId('error').textContent = error.message;
    if (client.tokens() === null) await show('account');
  } finally {
    button.disabled = false;
  }
}

/** The step at which an account goes on, also after a reload. A bucket of an earlier port is another one. */
async function nextOfUser() {
  const [project] = (await must(api.GET('/api/v1/projects'))).items;
  if (project === undefined) return 'project';
  state.projectId = project.id;
  const { items } = await must(api.GET(at.storages, inProject()));
  const isBound = items.some(({ endpoint, status }) => endpoint === settings.endpoint && status === 'active');
  return isBound ? 'upload' : 'bucket';
}

async function show(next) {
  for (const [index, name] of steps.entries()) {
    byId(name).hidden = name !== next;
    const mark = document.querySelector(`[data-step=${name}]`);
    mark?.classList.toggle('is-done', index < steps.indexOf(next));
    if (name === next) mark?.setAttribute('aria-current', 'step');
    else mark?.removeAttribute('aria-current');
  }
  byId('sign-out').hidden = next === 'account';
  byId('list').hidden = true;
  if (next === 'upload') drawSample(byId('sample').getContext('2d'));
  if (next === 'done') byId('done-title').focus();
  if (next === 'upload' || next === 'done') await listShares();
}

async function listShares() {
  const { items } = await must(api.GET(at.shares, inProject()));
  byId('list').hidden = items.length === 0;
  byId('shares').replaceChildren(...items.map(rowOf));
}

function rowOf({ id: shareId, url, views, remaining_uses: left }) {
  const row = document.createElement('li');
  const link = Object.assign(document.createElement('a'), {
    href: url,
    textContent: url,
    target: '_blank',
    rel: 'noopener',
  });
  const revoke = Object.assign(document.createElement('button'), {
    className: 'plain',
    textContent: 'Revoke',
  });
  revoke.addEventListener('click', () =>
    attempt(revoke, async () => {
      await must(api.DELETE(at.share, inProject({ shareId })));
      return 'upload';
    }),
  );
  row.append(link, ` opened ${views}, left ${left ?? 'any'} `, revoke);
  return row;
}

/** Asks the operator, whose part the script of this example plays, and returns the keys of the bucket. */
async function allowBucket() {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ project_id: state.projectId });
  const reply = await fetch('/bucket', { method: 'POST', headers, body });
  if (!reply.ok) throw new Error(await reply.text());
  return reply.json();
}

async function samplePicture() {
  const blob = await new Promise((resolve) => byId('sample').toBlob(resolve, 'image/png'));
  return new File([blob], 'Rhine at dawn.png', { type: 'image/png', lastModified: 0 });
}

/** Hills over a river, in the colours of the morning. */
function drawSample(context) {
  const { width, height } = context.canvas;
  const fill = (stops, y0, y1, points) => {
    const gradient = context.createLinearGradient(0, y0, 0, y1);
    for (const [index, colour] of stops.entries()) gradient.addColorStop(index / (stops.length - 1), colour);
    context.fillStyle = gradient;
    context.beginPath();
    for (const [x, y] of points) context.lineTo(x, y);
    context.fill();
  };
  const hill = (base, size, wave) => [
    ...Array.from({ length: width / 8 + 1 }, (_, n) => [n * 8, base - size * Math.sin(n / wave + base)]),
    ...[
      [width, height],
      [0, height],
    ],
  ];
  fill(['#33466e', '#d98f6c', '#ffd9a0'], 0, height, [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
  ]);
  fill(['#6d6a8c', '#8a7a92'], 200, 400, hill(260, 50, 17));
  fill(['#3d4a6b', '#54597a'], 250, 420, hill(320, 40, 11));
  fill(['#c98d74', '#4c5c86'], 350, height, hill(390, 4, 9));
}
