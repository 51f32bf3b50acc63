import test from 'ava';
import { pino } from 'pino';
import type { JsonObject } from '../../src/event-sourcing/domain-event.js';
import { findCanaries, findCanariesInFiles } from '../support/canaries.js';
import { givenAsset, givenShare } from '../support/given-share.js';
import { makeServiceClient, textOf, asObject } from '../support/service-client.js';
import { startInProcess } from '../support/service-in-process.js';
import { makeDataDirectory } from '../support/service-process.js';

const password = 'canary-share-password';
const otherPassword = 'canary-other-share-password';
const wrongPassword = 'canary-wrong-share-password';
const address = '198.51.100.78';

test("a share's password, token and session, and its visitors' addresses stand nowhere in clear", async (t) => {
  // Given a share with a password
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  const service = await startInProcess({
    directory: directory.path,
    log: { logger, flush: () => undefined },
    environment: { TRUSTED_PROXIES: '127.0.0.0/8' },
  });
  const { services, url } = service;
  const asset = await givenAsset(services);
  const { id, token } = await givenShare(services, asset, { password, maxUses: 5 });
  // When it is opened, rightly, wrongly, again under the same key, renewed, throttled and given another password
  const client = makeServiceClient(url);
  const path = `/api/v1/shares/${token}`;
  const from = { 'x-forwarded-for': address };
  const keyed = { ...from, 'idempotency-key': 'canary-share-key' };
  const opened = await client.post(`${path}/verify`, { password }, keyed);
  t.is(opened.status, 200, opened.text);
  const media = asObject(opened.json()['data'])['media'] as readonly JsonObject[];
  const signatures = media.map(
    (one) => new URL(textOf(one, 'url')).searchParams.get('X-Amz-Signature') ?? '',
  );
  t.true(signatures.length > 0 && signatures.every((signature) => signature.length === 64));
  t.is((await client.post(`${path}/verify`, { password }, keyed)).status, 200);
  const session = textOf(asObject(opened.json()['data']), 'share_session');
  t.is((await client.post(`${path}/media`, { share_session: session }, from)).status, 200);
  const replies = [
    await client.post(`${path}/verify`, { password: [password] }, from),
    await client.post(`${path}/verify`, { password, more: password }, from),
    await client.post(`${path}/media`, { share_session: `${session}A` }, from),
    await client.post(`${path}/verify`, { password: otherPassword }, keyed),
    await client.get(`${path}/verify`),
    await client.get(`/s/${token}`),
  ];
  for (let tried = 0; tried < 6; tried += 1) {
    replies.push(await client.post(`${path}/verify`, { password: wrongPassword }, from));
  }
  t.deepEqual(
    replies.map(({ status }) => status),
    [400, 400, 401, 409, 405, 200, 401, 401, 401, 401, 401, 429],
  );
  await services.commands.changeShare(
    { ...asset, shareId: id, changes: { password: otherPassword } },
    { commandId: id, causationId: id, correlationId: id, actor: 'operator', time: new Date() },
  );
  await service.close();
  // Then none of it is in a file, a line of the log, or a reply that tells what is wrong
  const canaries = {
    ...{ password, otherPassword, wrongPassword, token, session, address },
    'idempotency key': 'canary-share-key',
    'mac of the session': session.split('.').at(-1) ?? '',
    'a password hash': '$scrypt$',
    ...Object.fromEntries(signatures.map((signature, index) => [`signature of URL ${index}`, signature])),
    'credentials that sign': 'not-a-real-secret',
  };
  const secrets = Object.fromEntries(
    Object.entries(canaries).map(([name, value]) => [name, Buffer.from(value)]),
  );
  const seen = [
    ...findCanaries(secrets, 'log', Buffer.from(lines.join(''))),
    ...findCanaries(secrets, 'replies', Buffer.from(replies.map(({ text }) => text).join(''))),
    ...(await findCanariesInFiles(secrets, directory.path, ['keys.json'])),
  ];
  t.deepEqual(seen, []);
  // And the search finds what stands there in clear
  t.true(lines.some((line) => line.includes('/api/v1/shares/:token/verify')));
  const inClear = await findCanariesInFiles({ share: Buffer.from(id) }, directory.path);
  t.true(inClear.some(({ place }) => place.startsWith('events.db')));
});
