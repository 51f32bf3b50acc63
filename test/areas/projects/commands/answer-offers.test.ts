import test from 'ava';
import type { Role } from '../../../../src/areas/projects/domain/role.js';
import { sessionOf } from '../../../support/given/given-acting.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';

const at = new Date('2026-01-02T03:04:05.000Z');

/** Given a project of an owner, another owner, and bob@example.com with a proved address. Counts bob's records of places. */
async function given() {
  let written = 0;
  const stores = await givenStores({
    wrapState: (store) => ({
      ...store,
      compareAndSet: (key, ...rest) => {
        if (key.startsWith('places/projects/')) written += 1;
        return store.compareAndSet(key, ...rest);
      },
    }),
  });
  const world = givenCommands(stores);
  let asked = 0;
  const next = () => givenContext((asked += 1), at);
  const register = async (email: string) => {
    const client = { clientIp: null, userAgent: null };
    const { user } = await world.register({ email, password: 'Correct-Horse-7', ...client }, next());
    await world.verifyEmail({ email }, next());
    return user;
  };
  const [email, { id: ownerId }] = ['bob@example.com', await register('ada@example.com')];
  const bob = await register(email);
  const { resource } = await world.createProject({ ownerId, name: 'Film' }, next());
  const projectId = resource.id;
  const input = { projectId, actorId: ownerId, session: sessionOf(ownerId) };
  const addBob = (role: Role) => world.addMember({ ...input, email, role }, next());
  return {
    bob,
    addBob,
    offerRole: () => world.changeMemberRole({ ...input, memberId: bob.id, role: 'owner' }, next()),
    offerBilling: () => world.offerBilling({ ...input, userId: bob.id }, next()),
    /** Accepts bob's only offer, and returns how often a record of places was written. */
    accept: async () => {
      const [found] = await world.invitations.list(
        { id: bob.id, emailDigest: stores.digests.email(email) },
        { limit: 10 },
        at,
      );
      const before = written;
      await world.acceptOffer({ userId: bob.id, invitationId: found?.id ?? '' }, next());
      return written - before;
    },
  };
}

type Scene = Awaited<ReturnType<typeof given>>;

const offers: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'an invitation as owner': ({ addBob }) => addBob('owner'),
  'an offer of ownership': async ({ addBob, offerRole }) => {
    await addBob('editor');
    await offerRole();
  },
  'an offer of the billing': async ({ addBob, offerRole, accept, offerBilling }) => {
    await addBob('editor');
    await offerRole();
    await accept();
    await offerBilling();
  },
};

for (const [what, offer] of Object.entries(offers)) {
  test(`A user who accepts ${what} takes one place of owned projects`, async (t) => {
    const scene = await given();
    await offer(scene);
    t.is(await scene.accept(), 1);
  });
}
