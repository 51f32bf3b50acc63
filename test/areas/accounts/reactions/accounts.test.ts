import test from 'ava';
import { pluck } from '../../../support/given/pluck.js';
import { mailEmailVerifications } from '../../../../src/areas/accounts/commands/email/email-verification.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { endGivenAccesses } from '../../../../src/areas/accounts/commands/erasing.js';
import { makeKeyring } from '../../../../src/keys/rings/keyring.js';
import { makeMailedCodes } from '../../../../src/keys/codes/login-codes.js';
import { digest } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { client, credentials, givenNext } from '../../../support/given/given-account.js';
import { serve } from '../../../support/given/log.js';

const dayMs = 86_400_000;
const profile = { ...credentials, ...client };

async function given(options: { readonly mailConfigured?: boolean } = {}) {
  const commands = await givenNext({}, options);
  const { stores, next } = commands;
  const user = (id: string) => ({ aggregate: userAggregate, id });
  return {
    ...{ stores, commands, next, user },
    signUp: async (name: string) => {
      const email = `${name}@example.com`;
      const { user: registered } = await commands.register({ ...profile, email }, next());
      return registered.id;
    },
    /** Records that the mail server took the code. */
    mailed: async (userId: string) => {
      const { state } = await stores.handler.load(userAggregate, userId);
      const verification_id =
        state.status === 'registered' ? (state.verification?.verification_id ?? '') : '';
      const mark = { type: 'MarkEmailVerificationMailed', verification_id, outcome: 'accepted' } as const;
      await stores.handler.handle(user(userId), mark, next());
    },
    statusOf: async (userId: string) => (await stores.handler.load(userAggregate, userId)).state.status,
  };
}

test('A code that proves an address is mailed until its fifth attempt, its end or its mail', async (t) => {
  // Given four accounts, of which one tried its code four times and another five times
  const { stores, next, signUp, mailed, user } = await given();
  const reaction = mailEmailVerifications({
    ...stores,
    ...{ publicUrl: 'https://stowage.example', mails: { add: () => () => Promise.resolve() } },
    ...makeMailedCodes(makeKeyring([{ kid: 'c1', key: Buffer.alloc(32, 7) }])),
  });
  for (const [name, attempts] of [
    ['fresh', 0],
    ['mailed', 0],
    ['tried', 4],
    ['spent', 5],
  ] as const) {
    const userId = await signUp(name);
    const { state } = await stores.handler.load(userAggregate, userId);
    const verification_id = state.status === 'registered' ? (state.verification?.verification_id ?? '') : '';
    const attempt = { type: 'AttemptEmailVerification', verification_id, now: stores.clock.now() } as const;
    for (let n = 0; n < attempts; n += 1) await stores.handler.handle(user(userId), attempt, next());
    if (name === 'mailed') await mailed(userId);
  }
  // Then the reaction asks to mail the codes that still prove something, until they end
  const asking = { ...reaction, conclude: () => Promise.resolve() };
  t.deepEqual(await serve(stores, asking), ['yes', 'no', 'yes', 'no']);
  stores.clock.advance(dayMs);
  t.deepEqual(await serve(stores, asking), ['no', 'no', 'no', 'no']);
});

for (const cause of ['the first proof by a sign-in', 'a ban'] as const) {
  test(`The access that an account gave ends after ${cause}, also where the process crashes right after`, async (t) => {
    // Given an account with a project, an API key and a member
    const { stores, commands, next, signUp, user } = await given({ mailConfigured: false });
    const userId = await signUp('victoria');
    const friend = await signUp('accomplice');
    const { resource: project } = await commands.createProject({ ownerId: userId, name: 'Film' }, next());
    const target = { aggregate: projectAggregate, id: project.id };
    const session = { id: userId, epoch: 0 };
    const key = { name: 'k', scopes: ['asset:read'] } as const;
    await commands.issueApiKey({ projectId: project.id, actorId: userId, session, ...key }, next());
    const now = stores.clock.now();
    const invited = { userId: friend, email_digest: digest, role: 'admin' } as const;
    const add = { type: 'AddMember', actorId: userId, ...invited, now } as const;
    await stores.handler.handle(target, add, { ...next(), actor: `user:${userId}` });
    // When only the first event is appended
    const email_digest = stores.digests.email('victoria@example.com');
    const first =
      cause === 'a ban' ? ({ type: 'Ban' } as const) : ({ type: 'ProveEmail', email_digest } as const);
    await stores.handler.handle(user(userId), first, next());
    // Then the reaction of another process ends the access, once
    const other = stores.anotherProcess();
    const makeReaction = (shows: boolean) =>
      endGivenAccesses({ ...givenCommands(other), projectsShowUpTo: () => shows });
    t.deepEqual(await serve(other, makeReaction(false)), ['not-yet']);
    await serve(other, makeReaction(true));
    const { state } = await stores.handler.load(projectAggregate, project.id);
    if (state.status !== 'existing') return t.fail();
    t.deepEqual(state.api_keys, []);
    const left = cause === 'a ban' ? [userId, friend] : [userId];
    t.deepEqual(pluck(state.members, 'user_id'), left);
    const { revision } = await stores.handler.load(projectAggregate, project.id);
    await serve(other, makeReaction(true));
    t.is((await stores.handler.load(projectAggregate, project.id)).revision, revision);
    return undefined;
  });
}

test('A key of an account that is unbanned before the reaction runs stays', async (t) => {
  const { stores, commands, next, signUp, user } = await given({ mailConfigured: false });
  const userId = await signUp('ada');
  const { resource: project } = await commands.createProject({ ownerId: userId, name: 'Film' }, next());
  await stores.handler.handle(user(userId), { type: 'Ban' }, next());
  await stores.handler.handle(user(userId), { type: 'Unban' }, next());
  const key = { name: 'k', scopes: ['asset:read'] } as const;
  const session = { id: userId, epoch: 1 };
  await commands.issueApiKey({ projectId: project.id, actorId: userId, session, ...key }, next());
  await serve(stores, endGivenAccesses({ ...commands, projectsShowUpTo: () => true }));
  const { state } = await stores.handler.load(projectAggregate, project.id);
  t.is(state.status === 'existing' ? state.api_keys.length : 0, 1);
});
