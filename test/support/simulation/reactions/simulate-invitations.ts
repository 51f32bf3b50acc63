import { makeMembers } from '../../../../src/areas/projects/commands/members.js';
import { makeLeaving } from '../../../../src/areas/projects/commands/leaving.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { derivedId } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { type AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import {
  acceptNewInvitations,
  acceptOpenInvitations,
  makeInvitations,
  makeVerifiedHolder,
} from '../../../../src/areas/projects/commands/invitations.js';
import { makeSeededRandom } from '../../fakes/clock.js';
import { givenCommands } from '../../given/given-commands.js';
import { sessionOf } from '../../given/given-acting.js';
import { givenContext, givenStores } from '../../given/given-stores.js';
import { makeOwedTurns } from './owed-turns.js';
import { problemOf } from './invitation-invariants.js';
import { partial } from '../../fakes/partial.js';

/** The result of a history. A history in which an event never happens proves nothing about it. */
export interface Told {
  /** The problem, or null. */
  readonly problem: string | null;
  readonly invited: number;
  readonly accepted: number;
  readonly crashes: number;
}

/** Stops the process. The next one repeats its work. */
class Crash extends Error {}

const addresses = ['ann@example.com', 'bob@example.com'] as const;
const ownerId = '019b7d00-0000-7000-8000-0000000000aa';
const password = 'Correct-Horse-7';
const steps = 80;

/**
 * Users are invited, register, prove their addresses, change them, leave and are removed in any order, also during the
 * decision on an invitation. Reactions run late, crash before and after they append, and lose their checkpoints. Their view
 * lags. At the end no reaction is due, and the invariants of invitations are checked.
 */
export async function simulateInvitations(seed: number): Promise<Told> {
  const random = makeSeededRandom(seed);
  const chance = (probability: number): boolean => random() < probability;
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  let crashing = false;
  let crashes = 0;
  const stores = await givenStores({ wrap: withCrashes });
  const { handler, eventStore, digests, clock } = stores;
  const world = givenCommands(stores);
  let commands = 0;
  const projectIds: string[] = [];
  const userIds: string[] = [];

  // Runs steps between a read and the append that relies on it.
  let depth = 0;
  const meanwhile = async (): Promise<void> => {
    if (depth > 1) return;
    depth += 1;
    for (let n = Math.floor(random() * 5); n > 0; n -= 1) await step();
    depth -= 1;
  };
  const look = makeVerifiedHolder(world);
  const verifiedHolder = async (digest: string): Promise<string | null> => {
    const found = await look(digest);
    const wasCrashing = crashing;
    crashing = false;
    await meanwhile();
    crashing = wasCrashing;
    return found;
  };
  const deps = { ...stores, ...world, verifiedHolder };
  const { acceptInvitation, forgetEndedInvitations } = makeInvitations({ ...deps, limit: partial({}) });
  const { addMember } = makeMembers({
    ...{ ...deps, acceptInvitation, members: world.members, mailConfigured: true },
    countNotice: () => Promise.resolve(),
    requireProved: () => Promise.resolve(),
    countInvitation: () => Promise.resolve(),
  });
  const { removeMember } = makeLeaving(deps);
  const reactions: readonly AnyReaction[] = [
    acceptNewInvitations({ acceptInvitation }),
    acceptOpenInvitations({
      acceptInvitation,
      members: partial({ invitationsTo: invitationsInLaggingView }),
      projectsShowUpTo: (position) => turns.shows(position),
    }),
    forgetEndedInvitations,
  ];
  const turns = makeOwedTurns(eventStore, () => reactions);
  const showMore = () => turns.showMore(pick);

  // Each history has other frequencies, so that the histories together reach rare cases.
  const doings = [
    ...[register, verify, changeAddress, invite, leave, withdraw],
    ...[react, showMore, proveAndServe, proveAndServe, turns.loseCheckpoint],
  ].flatMap((doing) => Array<typeof doing>(1 + Math.floor(random() ** 2 * 6)).fill(doing));
  if (chance(0.2)) doings.push(deleteProject);
  const usedAddresses = addresses.slice(0, chance(0.5) ? 1 : 2);
  const projectCount = chance(0.5) ? 1 : 2;
  for (let n = 0; n < projectCount; n += 1) {
    const created = await world.createProject({ ownerId, name: `P${n}` }, next());
    projectIds.push(created.resource.id);
  }
  for (let n = 0; n < steps; n += 1) await step();
  depth = 2;
  await turns.settle();
  const log = await turns.wholeLog();
  const problem = await problemOf(log, { ...stores, verifiedHolder: look });
  const count = (type: string): number => log.filter((event) => event.type === type).length;
  const accepted = log.filter(({ type, data }) => type === 'MemberAdded' && data['invitation_id'] !== null);
  return { problem, invited: count('MemberInvited'), accepted: accepted.length, crashes };

  function next(): CommandContext {
    commands += 1;
    clock.advance(1_000);
    return givenContext(commands, clock.now());
  }

  async function step(): Promise<void> {
    const doing = pick(doings);
    try {
      await doing?.();
    } catch (error) {
      // A refused caller tries something else.
      if (!(error instanceof CommandRejected)) throw error;
    }
  }

  async function register(): Promise<void> {
    const email = pick(usedAddresses) ?? '';
    const { user } = await world.register({ email, password, client: null, userAgent: null }, next());
    userIds.push(user.id);
  }

  async function verify(): Promise<void> {
    const user = await someUser();
    if (user === null) return;
    const command = { type: 'VerifyEmail', email_digest: user.email_digest } as const;
    await handler.handle({ aggregate: userAggregate, id: user.id }, command, next());
  }

  /** Proves an address, and runs the reactions before anything else happens. */
  async function proveAndServe(): Promise<void> {
    await (chance(0.5) ? verify() : changeAddress());
    await turns.showAll();
    await turns.takeNew();
    const newest = turns.owed().at(-1);
    if (newest !== undefined) await turns.turn(newest);
  }

  async function changeAddress(): Promise<void> {
    const user = await someUser();
    if (user === null) return;
    const address = pick([...usedAddresses, `other${random()}@example.com`]) ?? '';
    // The number of mails is limited, so an hour passes since the last one.
    clock.advance(3_600_000);
    const context = next();
    const target = { aggregate: userAggregate, id: user.id };
    const change_id = derivedId(context, 'change');
    const email_digest = digests.email(address);
    const email = await stores.sealer.seal({ kind: 'person', userId: user.id }, 'email', address);
    const now = context.time;
    const expires_at = next().time.toISOString();
    const request = { change_id, email, email_digest, code_key_id: 'c1', expires_at, now };
    await handler.handle(target, { type: 'RequestEmailChange', ...request }, context);
    await world.reservations.reserve(email_digest, { userId: user.id, change_id }, context);
    const completion = { change_id, email_digest, code_key_id: 'c1', now };
    await handler.handle(target, { type: 'CompleteEmailChange', ...completion }, next());
  }

  async function invite(): Promise<void> {
    const [projectId = '', email = ''] = [pick(projectIds), pick(usedAddresses)];
    const acting = { actorId: ownerId, session: sessionOf(ownerId) };
    await addMember({ projectId, ...acting, email, role: 'viewer' }, next());
  }

  async function withdraw(): Promise<void> {
    const projectId = pick(projectIds) ?? '';
    const { state } = await handler.load(projectAggregate, projectId);
    const memberId = pick(state.status === 'existing' ? state.invitations.map(({ id }) => id) : []);
    if (memberId !== undefined) await removeMember({ projectId, actorId: ownerId, memberId }, next());
  }

  async function leave(): Promise<void> {
    const [projectId = '', memberId] = [pick(projectIds), pick(userIds)];
    if (memberId !== undefined) await removeMember({ projectId, actorId: memberId, memberId }, next());
  }

  async function deleteProject(): Promise<void> {
    await world.deleteProject({ projectId: pick(projectIds) ?? '' }, next());
  }

  async function someUser(): Promise<{ readonly id: string; readonly email_digest: string } | null> {
    const id = pick(userIds);
    if (id === undefined) return null;
    const { state } = await handler.load(userAggregate, id);
    return state.status === 'registered' ? { id, email_digest: state.email_digest } : null;
  }

  /** Runs one turn of a due reaction, in which the process may crash. */
  async function react(): Promise<void> {
    await turns.takeNew();
    // A new event is mostly handled at once, as in production.
    const one = chance(0.6) ? turns.owed().at(-1) : pick(turns.owed());
    if (one === undefined) return;
    crashing = chance(0.6);
    try {
      await turns.turn(one);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      crashes += 1;
    } finally {
      crashing = false;
    }
  }

  async function invitationsInLaggingView(email_digest: string) {
    const shown = await turns.shown();
    return projectIds.flatMap((projectId) => {
      const { decider, codec, category } = projectAggregate;
      const state = shown
        .filter(({ stream }) => stream === `${category}-${projectId}`)
        .reduce((folded, stored) => decider.evolve(folded, codec.decode(stored)), decider.initialState);
      const open = state.status === 'existing' ? state.invitations : [];
      return open
        .filter((invitation) => invitation.email_digest === email_digest)
        .map(({ id: invitationId }) => ({ projectId, invitationId }));
    });
  }

  /** Stops the process at some appends, before or after they happen. */
  function withCrashes(store: EventStore): EventStore {
    return {
      ...store,
      append: async (stream, expected, events, options) => {
        if (!crashing) return store.append(stream, expected, events, options);
        if (chance(0.5)) await store.append(stream, expected, events, options);
        throw new Crash('the process stopped');
      },
    };
  }
}
