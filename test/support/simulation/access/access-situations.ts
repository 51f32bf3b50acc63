import { scopes } from '../../../../src/areas/projects/domain/role.js';

/** A project: one in which the callers have their role, or one without any of them. */
export interface Place {
  readonly whose: 'own' | 'foreign';
  readonly requires2fa: boolean;
  readonly entitled: boolean;
}

const roleNames = ['none', 'viewer', 'editor', 'admin', 'owner'] as const;
export const platformRoles = ['none', 'operator', 'auditor', 'both'] as const;
const totpStates = ['off', 'on, never passed', 'on, passed 14:59 ago', 'on, passed 15:01 ago'] as const;

/** The time since the last sign-in or reauthentication. */
const signInAges = ['14:59 ago', '15:01 ago'] as const;

/** All credentials except a session of one of the callers. */
const otherCredentials = [
  'none',
  'agent secret',
  'wrong agent secret',
  'bad token',
  'expired token',
  'token of a revoked session',
  'token of an older epoch',
  'token of an expired session',
  'malformed key',
  'revoked key',
  'expired key',
  'session beside a bad key',
  'session beside a key',
  'key of another project',
  ...scopes.map((scope) => `key for ${scope}` as const),
] as const;

export interface Caller {
  readonly role: (typeof roleNames)[number];
  readonly platform: (typeof platformRoles)[number];
  readonly totp: (typeof totpStates)[number];
  readonly signedIn: (typeof signInAges)[number];
}

export interface Situation extends Caller {
  readonly credential: 'session' | (typeof otherCredentials)[number];
  /**
   * The ids of the path: a project, one that never existed, a deleted one, or no id at all; `any` for paths without a
   * project.
   */
  readonly place: Place | 'missing' | 'deleted' | 'malformed id' | 'any';
}

const booleans = [false, true];

export const projectPlaces: readonly Place[] = (['own', 'foreign'] as const).flatMap((whose) =>
  booleans.flatMap((requires2fa) => booleans.map((entitled) => ({ whose, requires2fa, entitled }))),
);

/** Every caller with a session: each role with each platform role, state of the second factor and age of the sign-in. */
export const callers: readonly Caller[] = roleNames.flatMap((role) =>
  platformRoles.flatMap((platform) =>
    totpStates.flatMap((totp) => signInAges.map((signedIn) => ({ role, platform, totp, signedIn }))),
  ),
);

/** The caller of a credential that is no session of `callers`. Its role has no effect. */
const noMember: Caller = { role: 'none', platform: 'none', totp: 'off', signedIn: '14:59 ago' };

/**
 * Returns every situation of a path. Dimensions without effect (the role of a caller without a session) are not
 * multiplied.
 */
export function situationsFor(path: string): readonly Situation[] {
  const places: readonly Situation['place'][] = path.includes(':projectId')
    ? [...projectPlaces, 'missing', 'deleted', 'malformed id']
    : path.includes(':')
      ? ['any', 'malformed id']
      : ['any'];
  return places.flatMap((place) => [
    ...callers.map((caller) => ({ ...caller, credential: 'session' as const, place })),
    ...otherCredentials.map((credential) => ({ ...noMember, credential, place })),
  ]);
}
