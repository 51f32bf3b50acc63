import test from 'ava';
import { mailEmailVerifications } from '../../../../src/areas/accounts/commands/email/email-verification.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { type AnyReaction, contextFor, eventFor } from '../../../../src/event-sourcing/effects/reaction.js';
import { endGivenAccesses } from '../../../../src/areas/accounts/commands/erasing.js';
import { makeKeyring } from '../../../../src/keys/rings/keyring.js';
import { makeVerificationCodes } from '../../../../src/keys/codes/login-codes.js';
import { digest } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores, type GivenStores } from '../../../support/given/given-stores.js';

const dayMs = 86_400_000;
const client = { clientIp: '192.0.2.1', userAgent: null };
const profile = { password: 'Correct-Horse-7', ...client };

async function given(options: { readonly mailConfigured?: boolean } = {}) {
  const stores = await givenStores();
  const commands = givenCommands(stores, options);
  let asked = 0;
  const next = () => givenContext((asked += 1), stores.clock.now());
  const user = (id: string) => ({ aggregate: userAggregate, id });
  return {
    stores,
    commands,
    next,
    user,
    signUp: async (name: string) => {
      const email = `${name}@example.com`;
      const { user: registered } = await commands.register({ email, ...profile }, next());
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

/** Runs the reaction once for every event of the log, as after the loss of its mark. Returns the answers of `asks`. */
async function runAll({ eventStore }: GivenStores, reaction: AnyReaction): Promise<readonly unknown[]> {
  const { events } = await eventStore.readAll({ after: null, limit: 500 });
  const answers: unknown[] = [];
  for (const stored of events) {
    const event = eventFor(reaction, stored);
    if (event === null) continue;
    const asked = await reaction.asks(event);
    answers.push(asked);
    if (asked === 'yes') await reaction.conclude(event, contextFor(reaction, event), undefined);
  }
  return answers;
}

test('A code that proves an address is mailed until its fifth attempt, its end or its mail', async (t) => {
  // Given four accounts, of which one tried its code four times and another five times
  const { stores, next, signUp, mailed, user } = await given();
  const reaction = mailEmailVerifications({
    ...stores,
    ...{ publicUrl: 'https://stowage.example', mails: { add: () => () => Promise.resolve() } },
    verificationCodes: makeVerificationCodes(makeKeyring([{ kid: 'c1', key: Buffer.alloc(32, 7) }])),
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
  t.deepEqual(await runAll(stores, { ...reaction, conclude: () => Promise.resolve() }), [
    'yes',
    'no',
    'yes',
    'no',
  ]);
  stores.clock.advance(dayMs);
  t.deepEqual(await runAll(stores, { ...reaction, conclude: () => Promise.resolve() }), [
    'no',
    'no',
    'no',
    'no',
  ]);
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
    const add = {
      type: 'AddMember',
      ...{
        actorId: userId,
        userId: friend,
        email_digest: digest,
        role: 'admin' as const,
        now: stores.clock.now(),
      },
    } as const;
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
    t.deepEqual(await runAll(other, makeReaction(false)), ['not-yet']);
    await runAll(other, makeReaction(true));
    const { state } = await stores.handler.load(projectAggregate, project.id);
    if (state.status !== 'existing') return t.fail();
    t.deepEqual(state.api_keys, []);
    const left = cause === 'a ban' ? [userId, friend] : [userId];
    t.deepEqual(
      state.members.map(({ user_id }) => user_id),
      left,
    );
    const { revision } = await stores.handler.load(projectAggregate, project.id);
    await runAll(other, makeReaction(true));
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
  await runAll(stores, endGivenAccesses({ ...commands, projectsShowUpTo: () => true }));
  const { state } = await stores.handler.load(projectAggregate, project.id);
  t.is(state.status === 'existing' ? state.api_keys.length : 0, 1);
});
