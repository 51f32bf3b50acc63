import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import { type Role, type Scope, scopes } from '../../../../src/areas/projects/domain/role.js';
import { sessionAggregate } from '../../../../src/areas/accounts/domain/session/session.js';
import { shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import type { Aggregate } from '../../../../src/event-sourcing/deciding/command-handler.js';
import type { DomainEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import { makeApiKey } from '../../../../src/security/tokens/api-keys.js';
import { appendEvents } from '../../given/append-events.js';
import { makeSeededRandom } from '../../fakes/clock.js';
import { assetDescription } from '../../examples/asset.js';
import { sessionStarted } from '../../examples/session.js';
import { shareCreated } from '../../examples/share.js';
import { storageCreated } from '../../examples/storage.js';
import { sealedExample } from '../../examples/sealed.js';
import { digest } from '../../examples/ids.js';
import { givenContext } from '../../given/given-stores.js';
import { agentSecret, password, type TestService } from '../../servers/http-service.js';
import { callers, projectPlaces, type Caller, type Place, type Situation } from './access-situations.js';

/** Users, projects, keys and storages for every situation, in the stores of a service. */
export interface AccessWorld {
  headersFor(situation: Situation): Readonly<Record<string, string>>;
  /** Returns the path with its ids filled in. `known` says whether all named resources exist. */
  pathFor(pattern: string, situation: Situation): { readonly path: string; readonly known: boolean };
}

interface Person {
  readonly userId: string;
  readonly sessionId: string;
  readonly authorization: string;
}

interface Project {
  readonly id: string;
  readonly storageId: string;
  readonly shareId: string;
  readonly assetId: string;
  readonly keys: ReadonlyMap<string, string>;
}

const minute = 60_000;
const day = 24 * 60 * minute;

export async function makeAccessWorld({ stores, commands }: TestService): Promise<AccessWorld> {
  const { clock, handler, sealer } = stores;
  let drawn = 0;
  const random = makeSeededRandom(7);
  const newId = (): string => `019b7d00-0000-7000-8000-${String((drawn += 1)).padStart(12, '0')}`;

  const append = <State, Command, Event extends DomainEvent>(
    aggregate: Aggregate<State, Command, Event>,
    id: string,
    events: readonly NoInfer<Event>[],
    time = clock.now(),
  ): Promise<void> => appendEvents(handler, { aggregate, id }, events, time);

  const signUp = async (events: readonly UserEvent[] = []): Promise<Person> => {
    drawn += 1;
    const email = `caller-${drawn}@example.com`;
    const context = givenContext(drawn, clock.now());
    const { tokens } = await commands.register(
      { email, password, client: { ip: '127.0.0.1', known: null }, userAgent: null },
      context,
    );
    const verdict = await commands.accessTokens.verify(tokens.access_token);
    if (!verdict.valid) throw new Error(verdict.code);
    const { userId, sessionId } = verdict.claims;
    // A proof counts only from the beginning of the factor.
    const anHourAgo = new Date(clock.now().getTime() - 60 * minute);
    if (events.length > 0) await append(userAggregate, userId, events, anHourAgo);
    return { userId, sessionId, authorization: `Bearer ${tokens.access_token}` };
  };

  const tokenFor = async (userId: string, sessionId: string): Promise<string> => {
    const grant = { userId, sessionId, authenticatedAt: clock.now(), methods: ['pwd'] };
    return `Bearer ${(await commands.accessTokens.sign(grant)).token}`;
  };

  const makeCaller = async ({ platform, totp, signedIn }: Caller): Promise<Person> => {
    const person = await signUp([
      ...(platform === 'operator' || platform === 'both' ? [granted('operator')] : []),
      ...(platform === 'auditor' || platform === 'both' ? [granted('auditor')] : []),
      ...(totp === 'off' ? [] : totpOn(newId())),
    ]);
    const passedMsAgo =
      totp === 'on, passed 14:59 ago'
        ? 15 * minute - 1_000
        : totp === 'on, passed 15:01 ago'
          ? 15 * minute + 1_000
          : null;
    if (passedMsAgo !== null) {
      const strengthened = { type: 'SessionStrengthened', data: { method: 'otp', refresh: null } } as const;
      const at = new Date(clock.now().getTime() - passedMsAgo);
      await append(sessionAggregate, person.sessionId, [strengthened], at);
    }
    const signedInMsAgo = 15 * minute + (signedIn === '15:01 ago' ? 1_000 : -1_000);
    const auth_time = new Date(clock.now().getTime() - signedInMsAgo).toISOString();
    await append(sessionAggregate, person.sessionId, [
      { type: 'SessionReauthenticated', data: { method: 'pwd', auth_time } },
    ]);
    return person;
  };

  const makeProject = async (
    { requires2fa, entitled }: Omit<Place, 'whose'>,
    ownerId: string,
    members: ReadonlyMap<string, Role>,
  ): Promise<Project> => {
    const [id, storageId, assetId, shareId] = [newId(), newId(), newId(), newId()];
    const keys = new Map<string, string>();
    const issue = (
      name: string,
      of: readonly Scope[],
      expiresAt = new Date(clock.now().getTime() + 30 * day),
    ): ProjectEvent => {
      const made = makeApiKey((size) =>
        Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256))),
      );
      keys.set(name, made.key);
      return {
        type: 'ApiKeyIssued',
        data: {
          ...{ key_id: newId(), name, digest: made.digest, prefix: made.prefix, last_four: made.last_four },
          ...{ scopes: [...of], expires_at: expiresAt.toISOString(), issued_by: ownerId },
        },
      };
    };
    const revoked = issue('revoked key', scopes);
    await append(projectAggregate, id, [
      { type: 'ProjectCreated', data: { name: 'Rivers', owner_id: ownerId } },
      ...[...members].map(([userId, role]): ProjectEvent => ({
        type: 'MemberAdded',
        data: { user_id: userId, role, invitation_id: null },
      })),
      { type: 'TwoFactorRequirementChanged', data: { require_2fa: requires2fa } },
      ...(entitled ? [entitlementGranted] : []),
      ...scopes.map((scope) => issue(`key for ${scope}`, [scope])),
      issue('every scope', scopes),
      issue('expired key', scopes, clock.now()),
      revoked,
      ...(revoked.type === 'ApiKeyIssued'
        ? [{ type: 'ApiKeyRevoked', data: { key_id: revoked.data.key_id } } as const]
        : []),
    ]);
    await append(storageAggregate, storageId, [
      { ...storageCreated, data: { ...storageCreated.data, project_id: id } },
    ]);
    await append(assetAggregate, assetId, [
      { type: 'AssetAdded', data: { ...assetDescription, project_id: id, storage_id: storageId } },
    ]);
    const token = await sealer.seal({ kind: 'share', projectId: id, shareId }, 'token', 'a token');
    const texts = { title: null, note: null };
    await append(shareAggregate, shareId, [
      { ...shareCreated, data: { ...shareCreated.data, project_id: id, token, ...texts } },
    ]);
    return { id, storageId, assetId, shareId, keys };
  };

  // The token of this user is older than 10 minutes when the calls begin.
  const expired = await signUp();
  clock.advance(11 * minute);

  const people = new Map<string, Person>();
  for (const caller of callers) people.set(callerKey(caller), await makeCaller(caller));
  const owner = await signUp();
  const members = new Map<string, Role>([[expired.userId, 'owner']]);
  for (const caller of callers) {
    if (caller.role !== 'none') members.set(personOf(caller).userId, caller.role);
  }

  const signedOut = await signUp();
  await append(sessionAggregate, signedOut.sessionId, [
    { type: 'SessionRevoked', data: { reason: 'signed_out' } },
  ]);
  const older = await signUp();
  await append(userAggregate, older.userId, [{ type: 'SessionsRevoked', data: {} }]);
  const over = newId();
  const ended = clock.now().toISOString();
  await append(sessionAggregate, over, [
    {
      ...sessionStarted,
      data: { ...sessionStarted.data, user_id: owner.userId, idle_expires_at: ended, expires_at: ended },
    },
  ]);
  for (const { userId } of [signedOut, older]) members.set(userId, 'owner');

  const projects = new Map<string, Project>();
  for (const place of projectPlaces) {
    const of = place.whose === 'own' ? members : new Map<string, Role>();
    projects.set(placeKey(place), await makeProject(place, owner.userId, of));
  }
  const unlimited = { requires2fa: false, entitled: true };
  const deleted = await makeProject(unlimited, owner.userId, members);
  await append(projectAggregate, deleted.id, [{ type: 'ProjectDeleted', data: {} }]);

  const fixed: Partial<Record<Situation['credential'], Readonly<Record<string, string>>>> = {
    none: {},
    'agent secret': { 'x-agent-secret': agentSecret },
    'wrong agent secret': { 'x-agent-secret': `${agentSecret}x` },
    'bad token': { authorization: `${owner.authorization}A` },
    'expired token': { authorization: expired.authorization },
    'token of a revoked session': { authorization: signedOut.authorization },
    'token of an older epoch': { authorization: older.authorization },
    'token of an expired session': { authorization: await tokenFor(owner.userId, over) },
    'malformed key': { 'x-api-key': 'stw_nonsense' },
    'session beside a bad key': { authorization: owner.authorization, 'x-api-key': 'stw_nonsense' },
  };

  return {
    headersFor: (situation) => {
      const { credential, place } = situation;
      if (credential === 'session') return { authorization: personOf(situation).authorization };
      const headers = fixed[credential];
      if (headers !== undefined) return headers;
      // A key belongs to the callers' project that resembles the project in the path.
      const home = typeof place === 'object' ? place : { requires2fa: false, entitled: false };
      const { keys } = projectAt({ ...home, whose: 'own' });
      if (credential === 'session beside a key') {
        return { authorization: owner.authorization, 'x-api-key': keyNamed(keys, 'key for storage:read') };
      }
      if (credential !== 'key of another project') return { 'x-api-key': keyNamed(keys, credential) };
      const elsewhere = projectAt({ ...home, whose: 'foreign', entitled: !home.entitled });
      return { 'x-api-key': keyNamed(elsewhere.keys, 'every scope') };
    },
    pathFor: (pattern, { place }) => {
      const project = placed(place);
      const ids: Readonly<Record<string, string | undefined>> = {
        ':projectId': place === 'malformed id' ? 'not-an-id' : (project?.id ?? absentId),
        ':storageId': project?.storageId ?? absentId,
        ':shareId': project?.shareId ?? absentId,
        ':assetId': project?.assetId ?? absentId,
      };
      let known = true;
      const path = pattern.replaceAll(/:\w+/g, (name) => {
        const id = ids[name];
        if (id !== undefined) return id;
        known = false;
        if (name === ':paymentId' && place !== 'malformed id') return `standard-${'0'.repeat(64)}@0`;
        return place === 'malformed id' && !pattern.includes(':projectId') ? 'not-an-id' : absentId;
      });
      return { path, known };
    },
  };

  function personOf(caller: Caller): Person {
    return present(people.get(callerKey(caller)));
  }
  function projectAt(place: Place): Project {
    return present(projects.get(placeKey(place)));
  }
  function placed(place: Situation['place']): Project | null {
    if (typeof place === 'object') return projectAt(place);
    return place === 'deleted' ? deleted : null;
  }
}

const absentId = '019b7d00-0000-7000-8000-ffffffffffff';
const callerKey = ({ role, platform, totp, signedIn }: Caller): string =>
  `${role}|${platform}|${totp}|${signedIn}`;
const placeKey = ({ whose, requires2fa, entitled }: Place): string => `${whose}|${requires2fa}|${entitled}`;
const keyNamed = (keys: ReadonlyMap<string, string>, name: string): string => present(keys.get(name));

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the world of the access tests lacks something');
  return value;
}

function granted(role: 'operator' | 'auditor'): UserEvent {
  return { type: 'PlatformRoleGranted', data: { role } };
}

function totpOn(enrolment_id: string): readonly UserEvent[] {
  return [
    { type: 'TotpEnrolled', data: { enrolment_id, secret: sealedExample('a secret') } },
    { type: 'TotpConfirmed', data: { enrolment_id, step: 1 } },
    { type: 'RecoveryCodesIssued', data: { digests: [digest] } },
  ];
}

const entitlementGranted = {
  type: 'EntitlementGranted',
  data: { entitlement: 'allow_s3', source: 'operator' },
} as const satisfies ProjectEvent;
