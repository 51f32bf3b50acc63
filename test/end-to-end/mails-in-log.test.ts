import test from 'ava';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { codeIn, makeServiceClient, signedIn, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import {
  freePort,
  spawnService,
  givenDirectory,
  givenService,
  loggedIn,
} from '../support/servers/service-process.js';

const email = 'ada@example.org';

test('With SMTP_URL=log: a development start writes a mailed code to its log, and the code signs in', async (t) => {
  // Given a started service with the account of a person
  const service = await givenService(t, { environment: { SMTP_URL: 'log:' } });
  t.true(service.output().includes('stowage: SMTP_URL=log: writes mails with their codes to this log'));
  const client = makeServiceClient(service.url);
  const { userId } = await client.register(email, 'Correct-Horse-9');
  // When the person asks for a code
  t.is((await client.post('/api/v1/auth/email-code/send', { email })).status, 200);
  // Then one line of level info has the mail
  const signInCodes = () =>
    mailsIn(service.output()).filter(({ subject }) => subject === 'Your sign-in code');
  await eventually('the log has the code', () => signInCodes().length > 0);
  const [mail = {}] = signInCodes();
  t.like(mail, { level: 30, to: email, subject: 'Your sign-in code', msg: 'a mail, logged instead of sent' });
  t.deepEqual(Object.keys(mail), ['level', 'time', 'trace_id', 'to', 'subject', 'text', 'msg']);
  // and the code in it signs in
  const code = codeIn(textOf(mail, 'text'));
  const reply = await client.post('/api/v1/auth/email-code/login', { email, code });
  t.is(reply.status, 200);
  t.is(signedIn(reply.json()).userId, userId);
  // and no second mail follows
  t.is(await service.stop(), 0);
  t.is(signInCodes().length, 1);
});

test('A start whose log level would lose the mails is refused with a sentence that names LOG_LEVEL', async (t) => {
  const directory = givenDirectory(t);
  const service = spawnService({
    directory,
    port: await freePort(),
    environment: { SMTP_URL: 'log:', LOG_LEVEL: 'silent' },
  });
  t.is(await service.exited, 1);
  t.regex(service.output(), /^stowage: .*SMTP_URL=log: .*set LOG_LEVEL to info or debug/s);
});

function mailsIn(output: string): readonly JsonObject[] {
  return loggedIn(output).filter(({ subject }) => subject !== undefined);
}
