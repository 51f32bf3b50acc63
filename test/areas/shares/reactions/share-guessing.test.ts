import test, { type ExecutionContext } from 'ava';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { makeMailShareGuessing } from '../../../../src/areas/shares/commands/mails/mail-sharer.js';
import { projectId } from '../../../support/examples/ids.js';
import { shareCreated } from '../../../support/examples/share.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { givenMail } from '../../../support/simulation/reactions/mail-scene.js';

const shareId = '019b7d00-0000-7000-8000-0000000000f2';
const dayMs = 24 * 3_600_000;

/** A project of Olga's, in which Ada is an editor. */
async function given(t: ExecutionContext, createdBy: 'Ada' | 'an API key', { proved = true } = {}) {
  const scene = await givenMail(t, (deps, stores) => [makeMailShareGuessing({ ...deps, ...stores })]);
  const { handler } = scene.stores;
  const olga = await scene.registerUser(1, 'olga@example.org', 'Olga');
  const ada = await scene.registerUser(2, 'ada@example.org', 'Ada');
  for (const [id, address] of [
    [olga, 'olga@example.org'],
    [ada, 'ada@example.org'],
  ] as const) {
    if (!proved) continue;
    const proof = { type: 'VerifyEmail', email_digest: scene.stores.digests.email(address) } as const;
    await handler.handle({ aggregate: userAggregate, id }, proof, givenContext(3, new Date()));
  }
  const project = { aggregate: projectAggregate, id: projectId };
  const now = new Date();
  await appendEvents(
    handler,
    project,
    [
      { type: 'ProjectCreated', data: { name: 'Rivers', owner_id: olga } },
      { type: 'MemberAdded', data: { user_id: ada, role: 'editor', invitation_id: null } },
    ],
    now,
  );
  const share = { aggregate: shareAggregate, id: shareId };
  const data = { ...shareCreated.data, created_by: createdBy === 'Ada' ? ada : null };
  await appendEvents(handler, share, [{ ...shareCreated, data }], now);
  let n = 10;
  const guess = async (at: Date) => {
    await handler.handle(share, { type: 'RecordGuessing', now: at }, givenContext((n += 1), new Date()));
  };
  const leave = () =>
    appendEvents(handler, project, [{ type: 'MemberRemoved', data: { user_id: ada } }], now);
  const revoke = () => handler.handle(share, { type: 'Revoke', projectId }, givenContext(900, new Date()));
  return { ...scene, guess, leave, revoke, now };
}

test('The sharer gets one mail a day about wrong passwords that reach the limit of a share', async (t) => {
  const { start, settled, smtp, guess, now, events } = await given(t, 'Ada');
  const runner = start();
  await guess(now);
  await guess(new Date(now.getTime() + dayMs - 60_000));
  await settled(runner);
  t.deepEqual(
    smtp.mails.map(({ to, email }) => [to, email.subject]),
    [[['ada@example.org'], 'Someone is guessing at the password of a share']],
  );
  const reached = (await events(`share-${shareId}`)).at(-1);
  const marks = await events(`securitynotice-${reached?.id ?? ''}`);
  t.like(marks[0]?.data, { kind: 'share_guessed_at', outcome: 'accepted' });
  await guess(new Date(now.getTime() + dayMs + 60_000));
  await settled(runner);
  t.is(smtp.mails.length, 2);
});

test('The owner of the project gets the mail where an API key made the share, or the sharer has left', async (t) => {
  for (const createdBy of ['an API key', 'Ada'] as const) {
    const { start, settled, smtp, guess, leave, now } = await given(t, createdBy);
    await leave();
    await guess(now);
    await settled(start());
    t.deepEqual(
      smtp.mails.map(({ to }) => to),
      [['olga@example.org']],
      createdBy,
    );
  }
});

test('A revoked share leads to no mail', async (t) => {
  const { start, settled, smtp, guess, revoke, now } = await given(t, 'Ada');
  await guess(now);
  await revoke();
  await settled(start());
  t.is(smtp.mails.length, 0);
});

test('An address that is not proved gets no mail about a share', async (t) => {
  const { start, settled, smtp, guess, now } = await given(t, 'Ada', { proved: false });
  await guess(now);
  await settled(start());
  t.deepEqual(smtp.mails, []);
});
