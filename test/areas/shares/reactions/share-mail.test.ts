import test, { type ExecutionContext } from 'ava';
import {
  makeForgetShareMails,
  makeMailShareLinks,
} from '../../../../src/areas/shares/commands/mails/mail-share.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { dataKeyRecord } from '../../../../src/keys/sealing/envelope.js';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { otherUserId, userId } from '../../../support/examples/ids.js';
import { sessionOf } from '../../../support/given/given-acting.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { register } from '../../../support/examples/user.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenAsset, givenShare, nextContext } from '../../../support/given/given-share.js';
import { givenMail, publicUrl } from '../../../support/simulation/reactions/mail-scene.js';

const dayMs = 86_400_000;

/** A share of Ada's, who owns the project "Rivers". */
async function given(t: ExecutionContext, terms: Parameters<typeof givenShare>[2] = {}) {
  let aheadMs = 0;
  let unseen = 0;
  const scene = await givenMail(t, (deps, stores) => {
    const clock = { ...stores.clock, now: () => new Date(Date.now() + aheadMs) };
    const commands = givenCommands(stores);
    const find: typeof commands.shares.find = async (...address) => {
      unseen -= 1;
      return unseen >= 0 ? null : commands.shares.find(...address);
    };
    const shares = { ...commands.shares, find };
    return [
      makeMailShareLinks({ ...stores, ...commands, ...deps, shares, clock }),
      makeForgetShareMails({ ...stores, clock }),
    ];
  });
  const { stores } = scene;
  const commands = givenCommands(stores);
  const service = { ...stores, commands };
  const { handler, sealer } = stores;
  const seal = (field: string, text: string) => sealer.seal({ kind: 'person', userId }, field, text);
  const [email, nickname] = [await seal('email', 'ada@example.org'), await seal('nickname', 'Ada L. <b>')];
  const target = { aggregate: userAggregate, id: userId };
  await handler.handle(target, { ...register, email, nickname }, nextContext(service));
  const proof = { type: 'VerifyEmail', email_digest: register.email_digest } as const;
  await handler.handle(target, proof, nextContext(service));
  const place = await givenAsset(service);
  const share = await givenShare(service, place, terms);
  const { projectId } = place;
  return {
    ...{ ...scene, service, share, place, projectId, commands },
    /** The view does not have the share for so many reads. */
    lag: (reads: number) => {
      unseen = reads;
    },
    startAhead: (ms: number) => {
      aheadMs = ms;
      return scene.start(ms);
    },
    send: (to: readonly string[], message: string | null = null, context = nextContext(service)) =>
      commands.mailShare(
        {
          projectId,
          shareId: share.id,
          to,
          message,
          sender: { actorId: userId, session: sessionOf(userId) },
        },
        context,
      ),
    revoke: () => commands.revokeShare({ projectId, shareId: share.id }, nextContext(service)),
    /** The streams of mails, with the types of their events, and whether the key of each is destroyed. */
    requests: async () => {
      const { events } = await stores.eventStore.readAll({ after: null, limit: 500 });
      const names = new Set(
        events.map(({ stream }) => stream).filter((name) => name.startsWith('sharemail-')),
      );
      return Promise.all(
        [...names].map(async (stream) => {
          const mailId = stream.slice('sharemail-'.length);
          const key = await stores.stateStore.get(dataKeyRecord({ kind: 'share-mail', projectId, mailId }));
          return {
            types: (await scene.events(stream)).map(({ type }) => type),
            isForgotten: JSON.stringify(key?.value).includes('destroyed_at'),
          };
        }),
      );
    },
  };
}

test('Each address gets one plain mail with link, project and end, without a password, and the key is destroyed', async (t) => {
  const end = new Date(Date.UTC(2099, 10, 30, 12, 5));
  const { start, settled, smtp, send, share, requests } = await given(t, { expires_at: end.toISOString() });
  await send(['bob@example.net', 'eve@example.net'], 'Look at https://evil.example\r\nor call 555-0100');
  await settled(start());
  t.deepEqual(smtp.mails.map(({ to }) => to).sort(), [['bob@example.net'], ['eve@example.net']]);
  t.is(new Set(smtp.mails.map(({ email }) => email.messageId)).size, 2);
  for (const { email } of smtp.mails) {
    t.is(email.subject, 'Files are shared with you');
    t.is(email.html, undefined);
    const text = (email.text ?? '').replaceAll('\r\n', '\n');
    t.true(text.startsWith('Ada L.\u2060 <b> shares files of the project "Rivers" with you:\n'), text);
    t.true(text.includes(`\n${share.url}\n`), text);
    t.regex(text, /until 2099-11-30 12:05 UTC\. The link needs a password/);
    t.true(
      text.includes(
        'The sender writes:\n> Look at https:\u2060/\u2060/\u2060evil.\u2060example\n> or call 5\u2060',
      ),
    );
    t.true(text.includes(publicUrl));
    t.false(text.includes('open sesame'));
  }
  t.deepEqual(await requests(), [
    {
      types: [...Array<string>(2).fill('ShareMailRequested'), ...Array<string>(2).fill('ShareMailed')],
      isForgotten: true,
    },
  ]);
  // A process that reads the log from its beginning sends nothing again
  await settled(start());
  t.is(smtp.mails.length, 2);
});

test('Two processes that run the reaction at once send one mail', async (t) => {
  const { start, settled, smtp, send } = await given(t);
  const both = [start(), start()];
  await send(['bob@example.net']);
  await Promise.all(both.map(settled));
  t.deepEqual(
    smtp.mails.map(({ to }) => to),
    [['bob@example.net']],
  );
});

test('A mail waits while the view does not have the share yet', async (t) => {
  const { start, settled, smtp, send, lag } = await given(t);
  lag(1);
  await send(['bob@example.net']);
  await settled(start());
  t.deepEqual(
    smtp.mails.map(({ to }) => to),
    [['bob@example.net']],
  );
});

test('No mail leads to a share without a password once the project allows none', async (t) => {
  const { start, settled, smtp, send, service, commands, share, projectId } = await given(t);
  const allow = (open_shares: boolean) =>
    appendEvents(
      service.handler,
      { aggregate: projectAggregate, id: projectId },
      [{ type: 'OpenSharesChanged', data: { open_shares } }],
      service.clock.now(),
    );
  await allow(true);
  const address = { projectId, shareId: share.id };
  await commands.changeShare({ ...address, changes: { password: null } }, nextContext(service));
  await send(['bob@example.net']);
  await allow(false);
  await settled(start());
  t.deepEqual(smtp.mails, []);
});

test('No mail leads to a share whose storage is disabled or whose asset is removed', async (t) => {
  for (const end of ['disableStorage', 'removeAsset'] as const) {
    const { start, settled, smtp, send, service, commands, place } = await given(t);
    await send(['bob@example.net']);
    await commands[end](place, nextContext(service));
    await settled(start());
    t.deepEqual(smtp.mails, [], end);
  }
});

test('A repeated request mails nothing more, also after its key is destroyed', async (t) => {
  const { start, settled, smtp, send, service } = await given(t);
  const context = nextContext(service);
  await send(['bob@example.net'], 'one', context);
  await settled(start());
  t.is(await send(['bob@example.net'], 'one', context), 1);
  await settled(start());
  t.is(smtp.mails.length, 1);
});

test('A revoked share, a deleted project and a sender who has left lead to no mail', async (t) => {
  const revoked = await given(t);
  await revoked.send(['bob@example.net']);
  await revoked.revoke();
  const deleted = await given(t);
  await deleted.send(['bob@example.net']);
  await deleted.commands.deleteProject({ projectId: deleted.projectId }, nextContext(deleted.service));
  const left = await given(t);
  await left.send(['bob@example.net']);
  const changes: readonly ProjectEvent[] = [
    {
      type: 'MemberAdded',
      data: { user_id: otherUserId, role: 'owner', invitation_id: null, given_by: userId },
    },
    { type: 'MemberRemoved', data: { user_id: userId, erased: true } },
  ];
  const project = { aggregate: projectAggregate, id: left.projectId };
  await appendEvents(left.service.handler, project, changes, new Date());
  for (const { start, settled, smtp } of [revoked, deleted, left]) {
    await settled(start());
    t.deepEqual(smtp.mails, []);
  }
});

test('A mail that has not gone within a day is not sent, and its address and message are forgotten', async (t) => {
  const { startAhead, settled, smtp, send, revoke, requests } = await given(t);
  await send(['bob@example.net']);
  await revoke();
  await settled(startAhead(dayMs - 120_000));
  t.like((await requests())[0], { isForgotten: false }, 'before the day has passed');
  await settled(startAhead(dayMs + 60_000));
  t.deepEqual(await requests(), [{ types: ['ShareMailRequested'], isForgotten: true }]);
  t.deepEqual(smtp.mails, []);
});
