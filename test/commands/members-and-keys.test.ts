import test from 'ava';
import { CommandRejected } from '../../src/event-sourcing/errors.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import { derivedId } from '../../src/event-sourcing/ids.js';
import { makeCommandHandler } from '../../src/event-sourcing/make-command-handler.js';
import type { CommandContext } from '../../src/event-sourcing/command-handler.js';
import { sealedSchema } from '../../src/event-sourcing/sealed.js';
import { makeAddMember } from '../../src/commands/add-member.js';
import { makeChangeMemberRole } from '../../src/commands/change-member-role.js';
import { makeRemoveMember } from '../../src/commands/remove-member.js';
import { makeVerifiedHolder } from '../../src/commands/verified-holder.js';
import { projectAggregate } from '../../src/domain/project/project.js';
import { userAggregate } from '../../src/domain/user/user.js';
import { dataKeyRecord } from '../../src/keys/key-scope.js';
import { erased } from '../../src/keys/sealer.js';
import { makeSeededRandom } from '../support/clock.js';
import { otherUserId, userId } from '../support/examples/ids.js';
import { addViewer } from '../support/examples/project.js';
import { givenCommands } from '../support/given-commands.js';
import { givenContext, givenStores } from '../support/given-stores.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const password = 'Correct-Horse-7';

async function givenProject(options: { mailConfigured?: boolean } = {}) {
  const stores = await givenStores();
  const commands = givenCommands(stores, options);
  const { resource } = await commands.createProject({ ownerId: userId, name: 'Rivers' }, givenContext(1, at));
  const projectId = resource.id;
  const target = { aggregate: projectAggregate, id: projectId };
  return {
    stores,
    ...commands,
    projectId,
    target,
    input: { projectId, actorId: userId, email: 'Bob@Example.com', role: 'viewer' } as const,
    log: async () => (await stores.eventStore.readAll({ after: null, limit: 500 })).events,
    /** Registers bob@example.com. */
    registerBob: async () => {
      const client = { clientIp: null, userAgent: null };
      const { user } = await commands.register(
        { email: 'bob@example.com', password, ...client },
        givenContext(50, at),
      );
      return user.id;
    },
    verifyBob: async (id: string) => {
      const command = { type: 'VerifyEmail', emailDigest: stores.digests.email('bob@example.com') } as const;
      await stores.handler.handle({ aggregate: userAggregate, id }, command, givenContext(51, at));
    },
    codeOf: async (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        (error: unknown) => (error instanceof CommandRejected ? String(error.code) : String(error)),
      ),
  };
}

type Scene = Awaited<ReturnType<typeof givenProject>>;

/** Two processes over one log, whose next appends to a stream wait for each other: both have decided by then. */
function givenTwoHandlers({ stores }: Scene, stream: string) {
  const { eventStore, clock } = stores;
  let waiting = 0;
  let open = (): void => undefined;
  const bothDecided = new Promise<void>((resolve) => {
    open = resolve;
  });
  const append: EventStore['append'] = async (name, expected, events, options) => {
    if (name === stream && waiting < 2) {
      waiting += 1;
      if (waiting === 2) open();
      await bothDecided;
    }
    return eventStore.append(name, expected, events, options);
  };
  const documentWriter = { viewsOf: () => [], write: () => Promise.resolve() };
  const handler = () =>
    makeCommandHandler({
      eventStore: { ...eventStore, append },
      documentWriter,
      clock,
      random: makeSeededRandom(1),
    });
  return [handler(), handler()] as const;
}

/** A project of two owners, each at a process of their own. */
async function givenTwoOwners() {
  const scene = await givenProject();
  const { stores, target, projectId } = scene;
  await stores.handler.handle(target, { ...addViewer, role: 'owner' }, givenContext(2, at));
  const [one, other] = givenTwoHandlers(scene, `project-${projectId}`);
  return { ...scene, one, other };
}

test('Of two owners who leave at once, one stays: the other’s process decides again', async (t) => {
  const { stores, projectId, codeOf, one, other } = await givenTwoOwners();
  const leave = (handler: typeof one, id: string, n: number) =>
    codeOf(makeRemoveMember({ handler })({ projectId, actorId: id, memberId: id }, givenContext(n, at)));
  const outcomes = await Promise.all([leave(one, userId, 3), leave(other, otherUserId, 4)]);
  t.deepEqual([...outcomes].sort(), ['done', 'last_owner']);
  const { state } = await stores.handler.load(projectAggregate, projectId);
  t.deepEqual(state.status === 'existing' && [...state.members.values()], ['owner']);
});

test('Of two owners who demote each other at once, one stays', async (t) => {
  const { stores, projectId, codeOf, one, other } = await givenTwoOwners();
  const members = { after: () => Promise.resolve(null) };
  const demote = (handler: typeof one, actorId: string, memberId: string, n: number) =>
    codeOf(
      makeChangeMemberRole({ handler, members })(
        { projectId, actorId, memberId, role: 'viewer' },
        givenContext(n, at),
      ),
    );
  const outcomes = await Promise.all([
    demote(one, userId, otherUserId, 3),
    demote(other, otherUserId, userId, 4),
  ]);
  // Whoever was demoted first has no right left; `member_not_found` is the reader's, which these handlers have not.
  t.deepEqual([...outcomes].sort(), ['insufficient_role', 'member_not_found']);
  const { state } = await stores.handler.load(projectAggregate, projectId);
  t.deepEqual(state.status === 'existing' && [...state.members.values()].sort(), ['owner', 'viewer']);
});

test('An address is sealed for its invitation, found by digest, and in clear nowhere', async (t) => {
  const { addMember, input, stores, projectId, log, members } = await givenProject();
  const context = givenContext(2, at);
  const invited = await addMember(input, context);
  const invitationId = derivedId(context, 'invitation');
  t.like(invited, { id: invitationId, email: 'Bob@Example.com', status: 'invited' });
  const emailDigest = stores.digests.email('bob@example.com');
  const event = (await log()).at(-1);
  t.like(event?.data, { invitation_id: invitationId, email_digest: emailDigest, invited_by: userId });
  const scope = { kind: 'invitation', projectId, invitationId } as const;
  t.is(await stores.sealer.open(scope, 'email', sealedSchema.parse(event?.data['email'])), 'Bob@Example.com');
  t.deepEqual(await members.invitationsTo(emailDigest), [{ projectId, invitationId }]);
  t.deepEqual(await members.invitationsTo(stores.digests.email('eve@example.com')), []);
  const kept = JSON.stringify([
    (await log()).map(({ data }) => data),
    await stores.stateStore.list('', { limit: 100 }),
  ]);
  t.notRegex(kept, /bob@/i);
});

test('A refused invitation leaves no key behind, also where it is refused at the last moment', async (t) => {
  const { addMember, input, stores, codeOf, projectId, members, ...scene } = await givenProject();
  const scopeOf = (context: CommandContext) =>
    ({ kind: 'invitation', projectId, invitationId: derivedId(context, 'invitation') }) as const;
  // Given an address that is invited between the look and the append
  const late = givenContext(2, at);
  const addLate = makeAddMember({
    ...{ ...stores, members, mailConfigured: true, verifiedHolder: makeVerifiedHolder(scene) },
    countInvitation: async () => {
      await addMember(input, givenContext(3, at));
    },
  });
  t.is(await codeOf(addLate(input, late)), 'already_member');
  const error = await t.throwsAsync(stores.sealer.seal(scopeOf(late), 'email', 'x'));
  t.is(error.name, 'KeyDestroyed');
  // And one that was invited long ago
  const again = givenContext(4, at);
  t.is(await codeOf(addMember({ ...input, role: 'editor' }, again)), 'already_member');
  t.is(await stores.stateStore.get(dataKeyRecord(scopeOf(again))), null);
});

test('An address that an account holds is invited until the account has verified it', async (t) => {
  const { addMember, input, registerBob, verifyBob, codeOf, findAccount, stores } = await givenProject();
  const verifiedHolder = makeVerifiedHolder({ findAccount });
  const digest = stores.digests.email('bob@example.com');
  t.is(await verifiedHolder(digest), null);
  const id = await registerBob();
  t.is(await verifiedHolder(digest), null);
  await verifyBob(id);
  t.is(await verifiedHolder(digest), id);
  t.like(await addMember(input, givenContext(2, at)), { id, status: 'active', nickname: 'bob' });
  t.is(await codeOf(addMember(input, givenContext(3, at))), 'already_member');
});

test('Who was added while their invitation was open, and removed, stays out when it is accepted late', async (t) => {
  const scene = await givenProject();
  const { addMember, removeMember, acceptInvitation, input, projectId, members, projects, codeOf } = scene;
  const { id: invitationId } = await addMember(input, givenContext(2, at));
  const bob = await scene.registerBob();
  await scene.verifyBob(bob);
  t.like(await addMember({ ...input, role: 'editor' }, givenContext(3, at)), { id: bob, status: 'active' });
  t.deepEqual(await members.invitationsTo(scene.stores.digests.email('bob@example.com')), []);
  await removeMember({ projectId, actorId: userId, memberId: bob }, givenContext(4, at));
  await acceptInvitation({ projectId, invitationId }, givenContext(5, at));
  t.is((await projects.access(projectId))?.roleOf(bob), null);
  t.is(
    await codeOf(removeMember({ projectId, actorId: userId, memberId: invitationId }, givenContext(6, at))),
    'member_not_found',
  );
});

test('Accepting does nothing until the address is verified, adds once then, and the address can be forgotten', async (t) => {
  const scene = await givenProject();
  const { addMember, acceptInvitation, forgetInvitations, input, projectId, log, projects, stores } = scene;
  const { id: invitationId } = await addMember(input, givenContext(2, at));
  const sealed = sealedSchema.parse((await log()).at(-1)?.data['email']);
  const accept = (n: number) => acceptInvitation({ projectId, invitationId }, givenContext(n, at));
  const userId = await scene.registerBob();
  await accept(3);
  t.is((await projects.access(projectId))?.roleOf(userId), null);
  await scene.verifyBob(userId);
  await accept(4);
  t.is((await projects.access(projectId))?.roleOf(userId), 'viewer');
  const before = (await log()).length;
  await accept(4);
  await accept(5);
  t.is((await log()).length, before);
  await forgetInvitations({ projectId, ended: [invitationId] });
  const scope = { kind: 'invitation', projectId, invitationId } as const;
  t.is(await stores.sealer.open(scope, 'email', sealed), erased);
});

test('Of a deleted project all invited addresses can be forgotten, of an existing one only those named', async (t) => {
  const { addMember, deleteProject, forgetInvitations, input, projectId, stores } = await givenProject();
  const invitation = async (n: number) => {
    const { id } = await addMember({ ...input, email: `bob${n}@example.com` }, givenContext(n, at));
    return { kind: 'invitation', projectId, invitationId: id } as const;
  };
  const [one, other] = [await invitation(2), await invitation(3)];
  const isForgotten = (scope: typeof one) =>
    stores.sealer.seal(scope, 'email', 'x').then(
      () => false,
      (error: unknown) => error instanceof Error && error.name === 'KeyDestroyed',
    );
  await forgetInvitations({ projectId, ended: [] });
  t.deepEqual([await isForgotten(one), await isForgotten(other)], [false, false]);
  await forgetInvitations({ projectId, ended: [one.invitationId] });
  t.deepEqual([await isForgotten(one), await isForgotten(other)], [true, false]);
  await deleteProject({ projectId }, givenContext(4, at));
  await forgetInvitations({ projectId, ended: [] });
  t.deepEqual([await isForgotten(one), await isForgotten(other)], [true, true]);
});

test('A membership ends with its account, and not before', async (t) => {
  const { removeErasedMember, projectId, projects, stores, registerBob, verifyBob, addMember, input } =
    await givenProject();
  const bob = await registerBob();
  await verifyBob(bob);
  await addMember(input, givenContext(2, at));
  const remove = (n: number) => removeErasedMember({ projectId, userId: bob }, givenContext(n, at));
  await remove(3);
  t.is((await projects.access(projectId))?.roleOf(bob), 'viewer');
  await stores.handler.handle({ aggregate: userAggregate, id: bob }, { type: 'Erase' }, givenContext(4, at));
  await remove(5);
  await remove(6);
  t.is((await projects.access(projectId))?.roleOf(bob), null);
});

test('The key that is issued is the one whose digest is kept', async (t) => {
  const { issueApiKey, projects, apiKeys, projectId, log, codeOf } = await givenProject();
  const input = { projectId, actorId: userId, name: 'Export', scopes: ['storage:read'] as const };
  const context = givenContext(2, at);
  const { key, resource } = await issueApiKey({ ...input, expiresAt: undefined }, context);
  const { digest } = ((await log()).at(-1)?.data ?? {}) as { digest: string };
  t.deepEqual(await projects.apiKey(digest), {
    keyId: resource.id,
    projectId,
    scopes: ['storage:read'],
    expiresAt: new Date('2027-01-02T03:04:05.000Z'),
  });
  t.deepEqual(await apiKeys.list(projectId, { limit: 50 }), [resource]);
  t.regex(key, /^stw_/);
  t.is(await codeOf(issueApiKey({ ...input, expiresAt: undefined }, context)), 'api_key_not_found');
});

test('Two-factor authentication is demanded by whoever has it', async (t) => {
  const { changeProject, projectId, projects, codeOf } = await givenProject();
  const demand = { projectId, name: undefined, requireTwoFactor: true };
  const actor = { id: userId, twoFactorEnabled: true };
  const without = changeProject(
    { ...demand, actor: { ...actor, twoFactorEnabled: false } },
    givenContext(2, at),
  );
  t.is(await codeOf(without), 'two_factor_required');
  t.like(await changeProject({ ...demand, actor }, givenContext(3, at)), { resource: { require_2fa: true } });
  t.true((await projects.access(projectId))?.requireTwoFactor);
});
