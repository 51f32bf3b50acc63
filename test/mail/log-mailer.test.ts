import test from 'ava';
import { MailRefused, type LoggedMail, makeLogMailer } from '../../src/mail/mailer.js';

test('The mailer of a development start writes the address, subject and text, and refuses an address that the real one refuses', async (t) => {
  const written: LoggedMail[] = [];
  const mailer = makeLogMailer((mail) => written.push(mail));
  const mail = {
    id: '018f0000-0000-7000-8000-000000000001',
    to: { name: 'Ada', address: 'ada@example.org' },
    subject: 'A subject',
    text: 'A text\n',
    html: '<p>A text</p>\n',
  };
  const { signal } = new AbortController();
  const now = (): Promise<void> => Promise.resolve();
  await mailer.send(mail, signal, now);
  await t.throwsAsync(mailer.send({ ...mail, to: { name: '', address: 'a b@example.org' } }, signal, now), {
    instanceOf: MailRefused,
  });
  t.deepEqual(written, [{ to: 'ada@example.org', subject: 'A subject', text: 'A text\n' }]);
});
