import type { ExecutionContext } from 'ava';
import { eventually } from '../eventually.js';
import { totpCode } from '../fakes/authenticator-app.js';
import {
  codeIn,
  dataOf,
  asObject,
  type HeaderFields,
  makeServiceClient,
  type ServiceClient,
  type ServiceReply,
  signedIn,
  textOf,
} from '../clients/service-client.js';
import type { TestSmtpServer } from '../servers/smtp-server.js';

/** The place of the story: two services over the same stores, which may end without warning and start again. */
interface StoryPlace {
  /** Returns the current URLs of the two services. */
  readonly urls: () => readonly [string, string];
  readonly smtp: TestSmtpServer;
  /** Ends both services and starts them again on the stored data. */
  readonly restart: () => Promise<void>;
}

const ada = { email: 'ada@example.org', password: 'Correct-Horse-7', next: 'Another-Horse-8' };
const bob = { email: 'bob@example.net', password: 'Correct-Horse-9' };

/**
 * Runs the life of two accounts through the service. Each step goes to one of the two processes, so that the other must
 * see every acknowledged change: login and refresh, mailed codes, the second factor, a change of password, an
 * invitation that is accepted after a restart, an API key, and erasure.
 */
export async function tellAccountsStory(
  t: ExecutionContext,
  { urls, smtp, restart }: StoryPlace,
): Promise<void> {
  const clients = (): readonly [ServiceClient, ServiceClient] => {
    const [one, two] = urls();
    return [makeServiceClient(one), makeServiceClient(two)];
  };
  let [first, second] = clients();

  // Ada registers at the first process and signs in at the second. Her token is used at both at once and has one
  // successor
  const registered = await first.register(ada.email, ada.password);
  const early = await second.login(ada.email, ada.password);
  t.is(early.userId, registered.userId);
  await expect(t, 401, second.post('/api/v1/auth/login', { email: ada.email, password: ada.next }));
  const refresh = { refresh_token: registered.refreshToken };
  const refreshed = await Promise.all(
    [first, second, first, second].map((client) =>
      expect(t, 200, client.post('/api/v1/auth/refresh', refresh)),
    ),
  );
  t.is(new Set(refreshed.map((reply) => tokenOf(reply, 'refresh_token'))).size, 1);

  // A mailed code signs in once and verifies the address
  const code = await mailedCode(t, first, smtp, ada.email);
  const byCode = await expect(
    t,
    200,
    second.post('/api/v1/auth/email-code/login', { email: ada.email, code }),
  );
  t.true(asObject(dataOf(byCode)['user'])['email_verified']);
  await expect(t, 401, first.post('/api/v1/auth/email-code/login', { email: ada.email, code }));

  // The first proof of an address voids all earlier credentials, because their owner had not proved the address
  const { headers: codeHeaders } = signedIn(byCode.json());
  await expect(t, 401, first.get('/api/v1/auth/me', early.headers));
  await expect(t, 401, second.post('/api/v1/auth/login', { email: ada.email, password: ada.password }));
  await expect(t, 204, first.post('/api/v1/auth/password', { new_password: ada.password }, codeHeaders));
  const later = await second.login(ada.email, ada.password);

  // With the second factor on, other sessions have no access until they pass it, and a code passes once
  const enrolled = await expect(t, 201, first.post('/api/v1/auth/2fa/totp', {}, codeHeaders));
  const secret = textOf(dataOf(enrolled), 'secret');
  const confirmation = { code: totpCode(secret, new Date()) };
  await expect(t, 200, second.post('/api/v1/auth/2fa/totp/confirm', confirmation, codeHeaders));
  await expect(t, 403, first.get('/api/v1/projects', later.headers));
  const verify = { code: totpCode(secret, new Date(), 1) };
  const passed = await Promise.all(
    [first, second].map((client) => client.post('/api/v1/auth/2fa/verify', verify, later.headers)),
  );
  t.deepEqual(passed.map(({ status }) => status).sort(), [200, 401]);
  const strong = headersOf(passed.find(({ status }) => status === 200) ?? byCode);
  await expect(t, 200, second.get('/api/v1/projects', strong));

  // A change of password ends all other sessions at once in both processes
  const change = { current_password: ada.password, new_password: ada.next };
  await expect(t, 204, first.post('/api/v1/auth/password', change, strong));
  for (const client of [first, second]) {
    await expect(t, 401, client.get('/api/v1/auth/me', codeHeaders));
    await expect(t, 200, client.get('/api/v1/auth/me', strong));
  }
  await expect(t, 401, second.post('/api/v1/auth/login', { email: ada.email, password: ada.password }));
  const successor = { refresh_token: tokenOf(refreshed[0] ?? byCode, 'refresh_token') };
  await expect(t, 401, second.post('/api/v1/auth/refresh', successor));

  // An invited address receives a mail, and its account is no member before the address is verified
  const made = await expect(t, 201, second.post('/api/v1/projects', { name: 'Film' }, strong));
  const project = `/api/v1/projects/${textOf(made.json(), 'id')}`;
  const invitation = { email: bob.email, role: 'admin' };
  t.like((await expect(t, 201, first.post(`${project}/members`, invitation, strong))).json(), {
    status: 'invited',
  });
  const bobs = await second.register(bob.email, bob.password);
  const bobsCode = await mailedCode(t, second, smtp, bob.email);
  await expect(t, 404, first.get(project, bobs.headers));

  // Ada's credentials were voided once and have changed three times, and each of these was mailed once
  const toldAda = (): readonly (string | undefined)[] =>
    smtp.mails
      .filter((mail) => mail.to.includes(ada.email) && !/\b[0-9]{6}\b/.test(mail.email.text ?? ''))
      .map((mail) => mail.email.subject);
  await eventually('Ada receives four notices', () => toldAda().length >= 4);
  const voided = 'What others may have set up in your account is void';
  const passwordChanged = 'Your password was changed';
  const twoFactorOn = 'Two-factor authentication was switched on';
  t.deepEqual([...toldAda()].sort(), [twoFactorOn, voided, passwordChanged, passwordChanged]);

  // When both processes end and start again, then no acknowledged change is lost and no mail is sent again
  // The first proof of Bob's address causes a notice to him.
  const mailed = () =>
    smtp.mails.filter(({ to, email: { subject } }) => !(to.includes(bob.email) && subject === voided));
  const mailsBefore = mailed().length;
  await restart();
  [first, second] = clients();
  await expect(t, 200, first.get(project, strong));
  await expect(t, 401, first.get('/api/v1/auth/me', codeHeaders));
  const prove = { email: bob.email, code: bobsCode };
  const proved = signedIn((await expect(t, 200, first.post('/api/v1/auth/email-code/login', prove))).json());
  await expect(t, 401, second.get(project, bobs.headers));
  await eventually(
    'Bob reads the project',
    async () => (await second.get(project, proved.headers)).status === 200,
  );
  t.is(mailed().length, mailsBefore);

  // Bob's API key works in both processes
  const issue = { name: 'Nightly', scopes: ['storage:read'] };
  const issued = await expect(t, 201, second.post(`${project}/api-keys`, issue, proved.headers));
  const key = { 'x-api-key': textOf(issued.json(), 'key') };
  await expect(t, 200, first.get(`${project}/storages`, key));

  // When Bob deletes his account, then his credentials fail at once in both processes, and his address is free
  await expect(t, 204, first.delete('/api/v1/auth/me', proved.headers));
  for (const client of [first, second]) {
    await expect(t, 401, client.get('/api/v1/auth/me', proved.headers));
    await expect(t, 401, client.post('/api/v1/auth/refresh', { refresh_token: proved.refreshToken }));
    await expect(t, 401, client.get(`${project}/storages`, key));
    await expect(t, 401, client.post('/api/v1/auth/login', { email: bob.email, password: bob.password }));
  }
  const members = (await expect(t, 200, second.get(`${project}/members`, strong))).json()['items'];
  t.is(Array.isArray(members) ? members.length : 0, 1);
  t.not((await second.register(bob.email, bob.password)).userId, bobs.userId);
}

async function expect(
  t: ExecutionContext,
  status: number,
  asked: Promise<ServiceReply>,
): Promise<ServiceReply> {
  const reply = await asked;
  t.is(reply.status, status, reply.text);
  return reply;
}

/** Requests a login code and reads it in the mail to that address. */
async function mailedCode(
  t: ExecutionContext,
  client: ServiceClient,
  smtp: TestSmtpServer,
  email: string,
): Promise<string> {
  await expect(t, 200, client.post('/api/v1/auth/email-code/send', { email }));
  return eventually('the mail with the code arrives', () => {
    const mails = smtp.mails.filter(({ to }) => to.includes(email));
    return mails.map((mail) => codeIn(mail.email.text)).find((found) => found !== '');
  });
}

function tokenOf(reply: ServiceReply, name: 'access_token' | 'refresh_token'): string {
  return textOf(asObject(dataOf(reply)['tokens']), name);
}

function headersOf(reply: ServiceReply): HeaderFields {
  return { authorization: `Bearer ${tokenOf(reply, 'access_token')}` };
}
