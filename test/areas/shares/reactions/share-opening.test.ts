import test, { type ExecutionContext } from 'ava';
import {
  makeMailShareOpening,
  makeRequestOpeningNotices,
} from '../../../../src/areas/shares/commands/mails/mail-sharer.js';
import type { CommandHandler } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { shareAccessAggregate } from '../../../../src/areas/shares/domain/share-access/share-access.js';
import { shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { securityNoticeAggregate } from '../../../../src/areas/accounts/domain/security-notice/security-notice.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { projectId } from '../../../support/examples/ids.js';
import { shareCreated } from '../../../support/examples/share.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { givenMail } from '../../../support/simulation/reactions/mail-scene.js';

const shareId = '019b7d00-0000-7000-8000-0000000000f3';

/** A share of Ada's. */
async function given(
  t: ExecutionContext,
  { notify_sharer = true, wrap = (handler: CommandHandler) => handler } = {},
) {
  const scene = await givenMail(t, (deps, stores) => [
    makeRequestOpeningNotices(stores),
    makeMailShareOpening({ ...deps, ...stores, handler: wrap(stores.handler) }),
  ]);
  const { handler, digests } = scene.stores;
  const ada = await scene.registerUser(1, 'ada@example.org', 'Ada');
  const proof = { type: 'VerifyEmail', email_digest: digests.email('ada@example.org') } as const;
  await handler.handle({ aggregate: userAggregate, id: ada }, proof, givenContext(3, new Date()));
  const now = new Date();
  const project = { aggregate: projectAggregate, id: projectId };
  await appendEvents(
    handler,
    project,
    [{ type: 'ProjectCreated', data: { name: 'Rivers', owner_id: ada } }],
    now,
  );
  const data = { ...shareCreated.data, created_by: ada, notify_sharer };
  const share = { aggregate: shareAggregate, id: shareId };
  await appendEvents(handler, share, [{ ...shareCreated, data }], now);
  let n = 20;
  const open = async (): Promise<void> => {
    n += 1;
    const target = { aggregate: shareAccessAggregate, id: `019b7d00-0000-7000-8000-0000000001${n}` };
    const access = { share_id: shareId, project_id: projectId, client_ip_digest: null };
    await handler.handle(target, { type: 'Record', ...access }, givenContext(n, now));
  };
  const revoke = () => handler.handle(share, { type: 'Revoke', projectId }, givenContext(900, new Date()));
  return { ...scene, open, revoke, sharer: ada };
}

test('The sharer gets one mail, about the first opening, which contains no text of a user', async (t) => {
  const { start, settled, smtp, open, events } = await given(t);
  const runner = start();
  await open();
  await settled(runner);
  await Promise.all([open(), open(), open()]);
  await settled(runner);
  t.deepEqual(
    smtp.mails.map(({ to, email }) => [to, email.subject]),
    [[['ada@example.org'], 'A share was opened for the first time']],
  );
  t.false(JSON.stringify(smtp.mails).includes('Rivers'));
  const marks = await events(`securitynotice-${shareId}`);
  t.like(marks[1]?.data, { kind: 'share_opened', outcome: 'accepted' });
  // A process that reads the log from its beginning sends it no second time
  await settled(start());
  t.is(smtp.mails.length, 1);
});

test('Visitors who open a share at the same time cause one mail, in one process and in two', async (t) => {
  for (const processes of [1, 2]) {
    const { start, settled, smtp, open, events } = await given(t);
    const runners = Array.from({ length: processes }, () => start());
    await Promise.all(Array.from({ length: 6 }, open));
    await Promise.all(runners.map(settled));
    t.deepEqual(
      smtp.mails.map(({ to }) => to),
      [['ada@example.org']],
      `${processes}`,
    );
    const types = (await events(`securitynotice-${shareId}`)).map(({ type }) => type);
    t.deepEqual(types, ['SecurityNoticeRequested', 'SecurityNoticeMailed']);
  }
});

test('A sharer who turns the mail off after it was requested gets none', async (t) => {
  // Given a request of an earlier process, and a share that now says `notify_sharer: false`
  const { stores, settled, start, smtp } = await given(t, { notify_sharer: false });
  const request = { type: 'Request', shareId, openedAt: new Date() } as const;
  await stores.handler.handle(
    securityNoticeAggregate.at(shareId),
    request,
    givenContext(901, request.openedAt),
  );
  // When
  await settled(start());
  // Then
  t.deepEqual(smtp.mails, []);
});

test('A share with notify_sharer: false and a revoked one lead to no mail', async (t) => {
  const quiet = await given(t, { notify_sharer: false });
  await quiet.open();
  await quiet.settled(quiet.start());
  t.deepEqual(quiet.smtp.mails, []);
  const revoked = await given(t);
  await revoked.open();
  await revoked.revoke();
  await revoked.settled(revoked.start());
  t.deepEqual(revoked.smtp.mails, []);
});
