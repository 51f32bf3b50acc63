import test from 'ava';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { loginCodeAggregate } from '../../../../src/areas/accounts/domain/login-code/login-code.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { client, credentials, givenNext } from '../../../support/given/given-account.js';
import { givenAsset, givenShare } from '../../../support/given/given-share.js';
import { losableDocuments } from '../../../support/given/interrupted-stores.js';
import { newestIssue } from '../../../support/examples/login-code.js';

/**
 * Given a share, an owner, an admin who is an auditor and has issued an API key, and a user without a project.
 * All are signed in. The last one has a mailed code.
 */
async function given() {
  const { lost, options } = losableDocuments();
  const { stores, next, ...commands } = await givenNext(options);
  const register = async (email: string) => {
    const { user, tokens } = await commands.register({ ...credentials, ...client, email }, next());
    const sessionId = commands.refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
    return { userId: user.id, sessionId, email_digest: stores.digests.email(email) };
  };
  const owner = await register('ada@example.com');
  const admin = await register('bob@example.com');
  const alone = await register('eve@example.com');
  const { email_digest } = admin;
  const target = { aggregate: userAggregate, id: admin.userId };
  await stores.handler.handle(target, { type: 'VerifyEmail', email_digest }, next());
  await commands.verifyEmail({ email: 'ada@example.com' }, next());
  await commands.grantPlatformRole({ email: 'bob@example.com', role: 'auditor' }, next());
  const { resource: project } = await commands.createProject({ ownerId: owner.userId, name: 'Film' }, next());
  const session = { id: owner.sessionId, epoch: 0 };
  const inProject = { projectId: project.id, actorId: owner.userId, session };
  await commands.addMember({ ...inProject, email: 'bob@example.com', role: 'admin' }, next());
  const key = { ...inProject, name: 'k', scopes: ['storage:read'] as const };
  const { resource: issued } = await commands.issueApiKey(
    { ...key, actorId: admin.userId, session: { id: admin.sessionId, epoch: 0 } },
    next(),
  );
  const service = { ...stores, commands };
  const asset = await givenAsset(service);
  const { id: shareId } = await givenShare(service, asset);
  await commands.sendEmailCode({ email: 'eve@example.com' }, next());
  await commands.background.settled();
  const issue = newestIssue((await stores.handler.load(loginCodeAggregate, alone.email_digest)).state);
  const codeOf = { kid: issue?.code_key_id ?? '', issue_id: issue?.issue_id ?? '' };
  const code = commands.loginCodes.codeFor({ ...codeOf, email_digest: alone.email_digest });
  return {
    ...{ commands, admin, alone, inProject, keyId: issued.id, next, code },
    share: { projectId: asset.projectId, shareId },
    /** Appends only the first event of an erasure. */
    eraseAdmin: () => stores.handler.handle(target, { type: 'Erase' }, next()),
    loseDocuments: (of = '') => {
      lost.prefix = of;
    },
  };
}

type Scene = Awaited<ReturnType<typeof given>>;

/** The commands that take access away (src/event-sourcing/deciding/README.md#reading-your-own-writes), by name. */
const endings: Readonly<Record<string, (scene: Scene, context: CommandContext) => Promise<unknown>>> = {
  'signing out': ({ commands, admin }, context) => commands.logout({ ...admin, all: false }, context),
  'signing out everywhere': ({ commands, admin }, context) =>
    commands.logout({ ...admin, all: true }, context),
  'ending a session': ({ commands, admin }, context) => commands.revokeSession(admin, context),
  'erasing an account': ({ commands, alone }, context) => commands.eraseUser(alone, context),
  'taking a platform role': ({ commands }, context) =>
    commands.revokePlatformRole({ email: 'bob@example.com', role: 'auditor' }, context),
  'removing a member': ({ commands, inProject, admin }, context) =>
    commands.removeMember({ ...inProject, memberId: admin.userId }, context),
  'ending the membership of an erased account': async (
    { commands, inProject, admin, eraseAdmin },
    context,
  ) => {
    await eraseAdmin();
    await commands.removeErasedMember({ ...inProject, userId: admin.userId }, context);
  },
  'demoting a member': ({ commands, inProject, admin }, context) =>
    commands.changeMemberRole({ ...inProject, memberId: admin.userId, role: 'viewer' }, context),
  'revoking an API key': ({ commands, inProject, keyId }, context) =>
    commands.revokeApiKey({ ...inProject, keyId }, context),
  'demanding two-factor authentication': ({ commands, inProject }, context) =>
    commands.changeProject({ ...inProject, changes: { require_2fa: true } }, context),
  'proving an address for the first time': ({ commands, code }, context) =>
    commands.loginByEmailCode({ email: 'eve@example.com', code, ...client }, context),
  "changing a share's password": ({ commands, share }, context) =>
    commands.changeShare({ ...share, changes: { password: 'open barley' } }, context),
  'revoking a share': ({ commands, share }, context) => commands.revokeShare(share, context),
  'deleting a project': ({ commands, inProject }, context) => commands.deleteProject(inProject, context),
};

for (const [what, end] of Object.entries(endings)) {
  test(`The service does not acknowledge ${what} when documents cannot be written`, async (t) => {
    const scene = await given();
    scene.loseDocuments();
    await t.throwsAsync(end(scene, scene.next()), { instanceOf: StoreUnavailable });
  });
}

test("The service does not acknowledge an erasure when documents of the user's projects cannot be written", async (t) => {
  const { commands, alone, next, loseDocuments } = await given();
  await commands.createProject({ ownerId: alone.userId, name: 'Diary' }, next());
  loseDocuments('projects@');
  await t.throwsAsync(commands.eraseUser(alone, next()), { instanceOf: StoreUnavailable });
  t.truthy(await commands.users.access(alone.userId), 'the erasure did not reach the account');
  loseDocuments('nothing');
  await t.notThrowsAsync(commands.eraseUser(alone, next()));
});

for (const what of ['removing a member', 'revoking an API key'] as const) {
  test(`The service does not answer a repetition of ${what} that the access has ended while the documents still show it`, async (t) => {
    const scene = await given();
    const { commands, admin, keyId, inProject, next, loseDocuments } = scene;
    const end = async () => endings[what]?.(scene, next());
    const isShown = async () => {
      const { document } = (await commands.projects.access(inProject.projectId)) ?? {};
      const { members = [], api_keys = [] } = document?.body ?? {};
      return what === 'removing a member'
        ? members.some(({ user_id }) => user_id === admin.userId)
        : api_keys.some(({ id }) => id === keyId);
    };
    loseDocuments();
    await t.throwsAsync(end, { instanceOf: StoreUnavailable });
    t.true(await isShown());
    await t.throwsAsync(end, { instanceOf: StoreUnavailable }, 'the documents cannot be written yet');
    loseDocuments('nothing');
    await t.throwsAsync(end, { message: /there is no such/ });
    t.false(await isShown());
  });
}
