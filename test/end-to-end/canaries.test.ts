import { setTimeout as wait } from 'node:timers/promises';
import { pluck } from '../support/given/pluck.js';
import test from 'ava';
import { Secret } from 'otpauth';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { otherThan, totpCode } from '../support/fakes/authenticator-app.js';
import { findCanaries, findCanariesInFiles } from '../support/examples/canaries.js';
import { canariesOf, startCanaryService } from '../support/servers/canary-service.js';
import { codeIn, dataOf, makeServiceClient, signedIn, textOf } from '../support/clients/service-client.js';
import { givenSmtpServer, type TestSmtpServer } from '../support/servers/smtp-server.js';

import { register } from '../support/examples/user.js';
import { userId } from '../support/examples/ids.js';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import { sessionOf } from '../support/given/given-acting.js';
import { givenAsset, givenShare, nextContext } from '../support/given/given-share.js';
import { makeKeptLog, startInProcess } from '../support/servers/service-in-process.js';
import { givenDirectory } from '../support/servers/service-process.js';

const person = {
  email: 'canary.ada@example.org',
  newEmail: 'canary.countess@example.net',
  nickname: 'CanaryNickname',
  agent: 'CanaryBrowser/7.3',
  password: 'Canary-Password-41',
  newPassword: 'Canary-Password-42',
  wrongPassword: 'Canary-Password-43',
};
const smtpPassword = 'canary-smtp-password';

/** Returns the code of the `nth` mail to an address, counted from 1; notices have none. */
async function mailedCode(smtp: TestSmtpServer, address: string, nth: number): Promise<string> {
  for (let mails = smtp.mails; ; mails = await smtp.received(mails.length + 1)) {
    const to = mails.filter((mail) => mail.to.includes(address));
    const codes = to.map(({ email }) => codeIn(email.text)).filter((code) => code !== '');
    const code = codes[nth - 1];
    if (code !== undefined) return code;
  }
}

const stepMs = 30_000;

/** Six digits occur by chance. A stored code stands between quotes or behind a name. */
const spelled = (name: string, code: string) => ({ [`${name} "`]: `"${code}"`, [`${name} :`]: `:${code}` });

test('Second factors, mailed codes, passwords and tokens stand nowhere in clear', async (t) => {
  // Given a person who signs in with all of them
  const smtp = await givenSmtpServer(t, { credentials: { user: 'stowage', password: smtpPassword } });
  const { client, watched, sightings } = await startCanaryService(t, { SMTP_URL: smtp.url });
  const ada = await client.register(person.email, person.password, { nickname: person.nickname });
  const from = { 'user-agent': person.agent };
  const headers = { ...ada.headers, ...from };
  const path = (name: string) => `/api/v1/auth/${name}`;

  // When the person turns on the second factor and uses right and wrong codes
  const enrolled = await client.post(path('2fa/totp'), {}, headers);
  const secret = textOf(dataOf(enrolled), 'secret');
  const shown = (stepsAhead: number) => totpCode(secret, new Date(), stepsAhead);
  // The service takes the codes of three steps of 30 s, so the first request must come before the step ends.
  const leftMs = stepMs - (Date.now() % stepMs);
  if (leftMs < 20_000) await wait(leftMs);
  const [first, second, third] = [shown(-1), shown(0), shown(1)] as const;
  const statuses = [
    await watched.post(path('2fa/totp/confirm'), { code: otherThan(first) }, headers),
    await watched.post(path('2fa/totp/confirm'), { code: [first] }, headers),
    await watched.post(path('2fa/totp/confirm'), { code: first, secret }, headers),
  ];
  const confirmed = await client.post(path('2fa/totp/confirm'), { code: first }, headers);
  t.is(confirmed.status, 200, confirmed.text);
  const oldRecoveryCodes = dataOf(confirmed)['recovery_codes'] as readonly string[];
  const [used = ''] = oldRecoveryCodes;
  const passed = await client.post(path('2fa/verify'), { code: second }, headers);
  t.is(passed.status, 200, passed.text);
  statuses.push(
    await watched.post(path('2fa/verify'), { code: second }, headers),
    await watched.post(path('2fa/verify'), { recovery_code: used, more: used }, headers),
  );
  t.is((await client.post(path('2fa/verify'), { recovery_code: used }, headers)).status, 200);
  statuses.push(
    await watched.post(path('2fa/verify'), { recovery_code: used }, headers),
    await watched.post(path('2fa/totp/remove'), { recovery_code: used }, headers),
    await watched.post(path('2fa/recovery-codes'), { code: first }, headers),
  );
  const replaced = await client.post(path('2fa/recovery-codes'), { code: third }, headers);
  t.is(replaced.status, 200, replaced.text);
  const recoveryCodes = [...oldRecoveryCodes, ...(dataOf(replaced)['recovery_codes'] as readonly string[])];

  // and changes the password and the address
  const passwords = { current_password: person.password, new_password: person.newPassword };
  statuses.push(
    await watched.post(path('password'), { ...passwords, current_password: person.wrongPassword }, headers),
    await watched.post(path('password'), { ...passwords, new_password: person.nickname }, headers),
    await watched.post(path('password'), passwords, headers),
    await watched.post(path('email'), { email: person.newEmail }, headers),
  );
  const changeCode = await mailedCode(smtp, person.newEmail, 1);
  statuses.push(
    await watched.post(path('email/confirm'), { code: otherThan(changeCode) }, headers),
    await watched.post(path('email/confirm'), { code: changeCode }, headers),
    // and signs in with a mailed code
    await watched.post(path('email-code/send'), { email: person.newEmail }, from),
  );
  const loginCode = await mailedCode(smtp, person.newEmail, 2);
  const attempt = { email: person.newEmail, code: loginCode };
  statuses.push(
    await watched.post(path('email-code/login'), { ...attempt, code: otherThan(loginCode) }, from),
    await watched.post(path('email-code/login'), { ...attempt, password: person.newPassword }, from),
  );
  const signedInByCode = await client.post(path('email-code/login'), attempt, from);
  t.is(signedInByCode.status, 200, signedInByCode.text);
  statuses.push(
    await watched.post(path('email-code/login'), attempt, from),
    await watched.post(path('login'), { email: person.newEmail, password: person.wrongPassword }, from),
    await watched.post(path('refresh'), { refresh_token: `${ada.refreshToken}x` }, from),
    await watched.get(path('me'), { authorization: `Bearer ${ada.accessToken}x` }),
    await watched.post(path('logout'), {}, headers),
  );

  // Then each call has the expected reply
  t.deepEqual(
    pluck(statuses, 'status'),
    [
      401, 400, 400, 401, 400, 401, 401, 401, 401, 400, 204, 200, 401, 204, 200, 401, 400, 401, 401, 401, 401,
      204,
    ],
  );
  // and no file, log line, notice or reply to another caller contains a secret
  const later = signedIn(signedInByCode.json());
  const canaries = {
    ...canariesOf({ ...person, smtpPassword, secret, 'a password hash': '$scrypt$' }),
    'TOTP secret, as bytes': Buffer.from(Secret.fromBase32(secret).bytes),
    ...canariesOf({ ...spelled('TOTP code 1', first), ...spelled('TOTP code 2', second) }),
    ...canariesOf(spelled('TOTP code 3', third)),
    ...canariesOf({ ...spelled('login code', loginCode), ...spelled('change code', changeCode) }),
    ...canariesOf(
      Object.fromEntries(
        recoveryCodes.flatMap((code) => [
          [`recovery code ${code}`, code],
          [`recovery code ${code}, compact`, code.replace('-', '')],
        ]),
      ),
    ),
    ...canariesOf({ access: ada.accessToken, refresh: ada.refreshToken }),
    ...canariesOf({ 'later access': later.accessToken, 'later refresh': later.refreshToken }),
  };
  const notices = (await smtp.received(7)).filter(({ email: { text } }) => codeIn(text) === '');
  t.deepEqual(notices.map(({ to, email }) => `${to.join()}: ${email.subject ?? ''}`).sort(), [
    `${person.email}: A recovery code was used`,
    `${person.email}: New recovery codes were issued`,
    `${person.email}: The address of your account was changed`,
    `${person.email}: Two-factor authentication was switched on`,
    `${person.email}: Your password was changed`,
  ]);
  const told = notices.map(({ email: { text, html } }) => `${text ?? ''}${html ?? ''}`).join('');
  t.deepEqual(findCanaries(canaries, 'notices', Buffer.from(told)), []);
  t.deepEqual(await sightings(canaries), []);
});

const password = 'canary-share-password';
const otherPassword = 'canary-other-share-password';
const wrongPassword = 'canary-wrong-share-password';
const address = '198.51.100.78';
const recipient = 'canary.recipient@example.org';
const message = 'CanaryMessage to the recipient';

test("The password, token and session of a share and its visitors' addresses stand nowhere in clear", async (t) => {
  // Given a share with a password
  const directory = givenDirectory(t);
  const smtp = await givenSmtpServer(t);
  const { lines, log } = makeKeptLog();
  const service = await startInProcess({
    directory,
    log,
    environment: { TRUSTED_PROXIES: '127.0.0.0/8', SMTP_URL: smtp.url },
  });
  const { services, url } = service;
  const asset = await givenAsset(services);
  const { id, token } = await givenShare(services, asset, { password, max_uses: 5 });
  // When visitors open it with right and wrong passwords, repeat a key, renew, are throttled, and the password changes
  const client = makeServiceClient(url);
  const path = `/api/v1/shares/${token}`;
  const from = { 'x-forwarded-for': address };
  const keyed = { ...from, 'idempotency-key': 'canary-share-key' };
  const opened = await client.post(`${path}/verify`, { password }, keyed);
  t.is(opened.status, 200, opened.text);
  const media = dataOf(opened)['media'] as readonly JsonObject[];
  const signatures = media.map(
    (one) => new URL(textOf(one, 'url')).searchParams.get('X-Amz-Signature') ?? '',
  );
  t.true(signatures.length > 0 && signatures.every((signature) => signature.length === 64));
  t.is((await client.post(`${path}/verify`, { password }, keyed)).status, 200);
  const session = textOf(dataOf(opened), 'share_session');
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
  t.deepEqual(pluck(replies, 'status'), [400, 400, 401, 409, 405, 200, 401, 401, 401, 401, 401, 429]);
  // and the owner, whose address is proved, mails the link
  const person = { kind: 'person', userId } as const;
  const owner = {
    ...register,
    email: await services.sealer.seal(person, 'email', 'owner@example.org'),
    nickname: await services.sealer.seal(person, 'nickname', 'owner'),
  };
  const target = { aggregate: userAggregate, id: userId };
  await services.handler.handle(target, owner, nextContext(services));
  const proof = { type: 'VerifyEmail', email_digest: register.email_digest } as const;
  await services.handler.handle(target, proof, nextContext(services));
  const mail = {
    projectId: asset.projectId,
    shareId: id,
    to: [recipient],
    message,
    sender: { actorId: userId, session: sessionOf(userId) },
  };
  await services.commands.mailShare(mail, nextContext(services));
  const [mailed] = await smtp.received(1);
  t.deepEqual(mailed?.to, [recipient]);
  t.false(mailed?.email.text?.includes(password));
  await services.commands.changeShare(
    { ...asset, shareId: id, changes: { password: otherPassword } },
    { commandId: id, causationId: id, correlationId: id, actor: 'operator', time: new Date() },
  );
  await service.close();
  // Then no file, log line or error reply contains a secret
  const canaries = {
    ...{ password, otherPassword, wrongPassword, token, session, address, recipient, message },
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
    ...(await findCanariesInFiles(secrets, directory, ['keys.json'])),
  ];
  t.deepEqual(seen, []);
  // and the search finds a value that is stored in clear
  t.true(lines.some((line) => line.includes('/api/v1/shares/:token/verify')));
  const inClear = await findCanariesInFiles({ share: Buffer.from(id) }, directory);
  t.true(inClear.some(({ place }) => place.startsWith('events.db')));
});
