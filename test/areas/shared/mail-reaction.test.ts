import test from 'ava';
import { mailInvitations } from '../../../src/areas/projects/commands/invitations.js';
import { userId } from '../../support/examples/ids.js';
import { givenNext } from '../../support/given/given-account.js';
import { givenActing, sessionOf } from '../../support/given/given-acting.js';
import { givenMails } from '../../support/given/given-mails.js';
import { serve } from '../../support/given/log.js';

/** Given an invitation whose mail waits, and a log that answers without its event until `whole`. */
async function givenShortLog() {
  const { stores, next, ...commands } = await givenNext();
  await givenActing(stores, userId);
  const sent: string[] = [];
  const { mails, deliver, retried, records } = givenMails(stores, {
    send: async ({ to }, _, handOver) => {
      sent.push(to.address);
      await handOver();
    },
  });
  const log = { isShort: true };
  const { resource } = await commands.createProject({ ownerId: userId, name: 'Rivers' }, next());
  const acting = { projectId: resource.id, actorId: userId, session: sessionOf(userId) };
  await commands.addMember({ ...acting, email: 'bob@example.com', role: 'viewer' }, next());
  const eventStore = {
    read: (...call: Parameters<typeof stores.eventStore.read>) =>
      log.isShort ? Promise.resolve([]) : stores.eventStore.read(...call),
  };
  await serve(
    stores,
    mailInvitations({
      ...{ ...stores, ...commands, mails, eventStore },
      users: { ...commands.users, find: () => Promise.resolve(null) },
      publicUrl: 'https://stowage.example',
    }),
  );
  return { log, stores, sent, deliver, retried, records };
}

test('A mail whose event a log with leaders lacks for a moment is sent when the log is whole again', async (t) => {
  const { log, stores, sent, deliver, retried } = await givenShortLog();
  await deliver();
  t.regex(retried[0] ?? '', /the log lacks the event/);
  log.isShort = false;
  stores.clock.advance(10_000);
  await deliver();
  t.deepEqual(sent, ['bob@example.com']);
});

test('A mail whose event the log does not hold after a minute, as after a restore, is dropped', async (t) => {
  const { stores, sent, deliver, records } = await givenShortLog();
  stores.clock.advance(60_000);
  await deliver();
  t.deepEqual([sent, await records()], [[], []]);
});
