import test, { type ExecutionContext } from 'ava';
import { eventually } from '../support/eventually.js';
import { addTotp, asObject, codeIn, dataOf, makeServiceClient } from '../support/clients/service-client.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import {
  givenService,
  runCli,
  runCliAtTerminal,
  terminalProgram,
} from '../support/servers/service-process.js';
import { givenSmtpServer } from '../support/servers/smtp-server.js';

const [email, newEmail, password] = ['ada@example.org', 'countess@example.net', 'Correct-Horse-7'];

/** Given a served process with a mail server, and its operator's command line. */
async function given(t: ExecutionContext) {
  const smtp = await givenSmtpServer(t);
  const service = await givenService(t, { environment: { SMTP_URL: smtp.url } });
  const { directory } = service;
  const cli = (...args: readonly string[]) => runCli(directory, ['--json', ...args]);
  return {
    ...{ service, directory, client: makeServiceClient(service.url), cli },
    /** Runs a command that succeeds, and returns its JSON. */
    operate: async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await cli(...args);
      t.is(code, 0, `${args.join(' ')}: ${stderr}`);
      return asObject(JSON.parse(stdout));
    },
    /** Waits for the code of a mail with the subject to an address. */
    mailedCode: async (to: string, subject: RegExp): Promise<string> => {
      const mail = await eventually(`a mail to ${to}`, () =>
        smtp.mails.find((one) => one.to.includes(to) && subject.test(one.email.subject ?? '')),
      );
      return codeIn(mail.email.text);
    },
  };
}

test('An operator lists, shows, signs out, resets and restores accounts, and each change is an event of the operator', async (t) => {
  const { service, directory, client, operate, mailedCode } = await given(t);
  const ada = await client.register(email, password);
  await operate('user', 'verify', email);
  const project = await client.post('/api/v1/projects', { name: 'Film' }, ada.headers);
  t.is(project.status, 201);
  // The account is listed and shown, by its address and by its id
  const { items } = await operate('user', 'list', '--limit', '10');
  t.like(items, [{ id: ada.userId, email }]);
  for (const account of [email, ada.userId]) {
    const shown = await operate('user', 'show', account);
    t.like(shown, { id: ada.userId, email, banned: false, two_factor_enabled: false });
    t.like(shown['projects'], [{ name: 'Film' }]);
    t.is((shown['sessions'] as readonly unknown[]).length, 1);
  }
  // A sign-out ends every session at once
  t.like(await operate('user', 'sign-out', email), { changed: true });
  t.is((await client.get('/api/v1/auth/me', ada.headers)).status, 401);
  // A reset turns the second factor off
  const again = await client.login(email, password);
  await addTotp(client, again.headers);
  t.like(await operate('user', 'show', email), { two_factor_enabled: true });
  t.like(await operate('user', 'reset-2fa', email), { changed: true });
  const { headers } = await client.login(email, password);
  t.like(dataOf(await client.get('/api/v1/auth/me', headers)), { two_factor_enabled: false });
  t.like(await operate('user', 'reset-2fa', email), { changed: false });
  // An account that was moved away is found by its former address, and gets it back
  t.is((await client.post('/api/v1/auth/email', { email: newEmail }, headers)).status, 200);
  const confirmation = { code: await mailedCode(newEmail, /./) };
  t.is((await client.post('/api/v1/auth/email/confirm', confirmation, headers)).status, 204);
  t.like(await operate('user', 'show', ada.userId), { email: newEmail });
  t.like(await operate('user', 'restore-address', email), { user_id: ada.userId });
  t.like(await operate('user', 'show', ada.userId), { email });
  t.is((await client.get('/api/v1/auth/me', headers)).status, 401);
  // and each change is an event of the operator
  await service.stop();
  const log = await startInProcess({ directory });
  const { events } = await log.services.eventStore.readAll({ after: null, limit: 500 });
  await log.close();
  const byOperator = events
    .filter(({ metadata }) => metadata.actor === 'operator')
    .map(({ type, stream }) => [type, stream]);
  t.deepEqual(
    byOperator,
    ['EmailVerified', 'SessionsRevoked', 'TotpRemoved', 'SessionsRevoked', 'EmailChangeReverted'].map(
      (type) => [type, `user-${ada.userId}`],
    ),
  );
});

test('Without a terminal an erasure needs --yes, and then the account is gone', async (t) => {
  const { client, cli, operate } = await given(t);
  const ada = await client.register(email, password);
  const refused = await cli('user', 'erase', email);
  t.is(refused.code, 2);
  t.regex(refused.stderr, /confirm it by --yes/);
  t.is((await client.get('/api/v1/auth/me', ada.headers)).status, 200);
  await operate('user', 'erase', email, '--yes');
  t.is((await client.get('/api/v1/auth/me', ada.headers)).status, 401);
  t.is((await cli('user', 'show', ada.userId)).code, 1);
  // The address is free
  t.not((await client.register(email, password)).userId, ada.userId);
});

test('An erasure says that the account may have more projects than it has counted', async (t) => {
  const { client, cli } = await given(t);
  const ada = await client.register(email, password);
  for (let n = 0; n < 100; n += 1)
    t.is((await client.post('/api/v1/projects', { name: `Film ${n}` }, ada.headers)).status, 201);
  const refused = await cli('user', 'erase', email);
  t.regex(refused.stderr, /with at least 100 projects/);
});

const atTerminal = terminalProgram === null ? test.skip : test;
atTerminal('At a terminal an erasure asks, and happens only after the answer yes', async (t) => {
  const { client, directory } = await given(t);
  const ada = await client.register(email, password);
  for (const answer of ['no', '', 'y']) {
    const { code, output } = await runCliAtTerminal(directory, ['user', 'erase', email], {
      ...{ asks: /Type yes: /, answer },
    });
    t.is(code, 1, output);
    t.true(output.includes(`Erase ${email} (${ada.userId}), with 0 projects for good?`), output);
    t.regex(output, /nothing was erased \(not_confirmed\)/);
    t.is((await client.get('/api/v1/auth/me', ada.headers)).status, 200, answer);
  }
  const confirmed = { asks: /Type yes: /, answer: ' Yes ' };
  const { code, output } = await runCliAtTerminal(directory, ['user', 'erase', email], confirmed);
  t.is(code, 0, output);
  t.is((await client.get('/api/v1/auth/me', ada.headers)).status, 401);
});
