import test from 'ava';
import type { ProjectAccess } from '../../../../projections/projects/projects/reader.js';
import type { UserAccess } from '../../../../projections/accounts/users/reader.js';
import type { SessionCaller } from '../../../../src/http/access/access.js';
import { documentedErrors } from '../../../../src/http/document/openapi-responses.js';
import { makeGate, requireGuarded } from '../../../../src/http/access/gate.js';
import { HttpError } from '../../../../src/http/replies/error-codes.js';
import type { Route } from '../../../../src/http/route.js';
import { limitsFrom } from '../../../../src/security/rates/limits.js';
import { makeRateLimiter } from '../../../../src/security/rates/rate-limit.js';
import { makeTestClock } from '../../../support/fakes/clock.js';
import { partial } from '../../../support/fakes/partial.js';
import { userId } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { areaRoutes } from '../../../support/servers/http-service.js';
import { noFactors } from '../../../../src/areas/accounts/domain/guard.js';

const clock = makeTestClock();
const longAgo = new Date(clock.now().getTime() - 3_600_000);

const withTotp = { ...noFactors, totp: true };
const caller: SessionCaller = {
  ...{
    kind: 'session',
    actor: `user:${userId}`,
    userId,
    sessionId: userId,
    sessionEpoch: 0,
  },
  ...{ emailCodeAt: null, platformRoles: ['operator', 'auditor'] },
  factors: noFactors,
  proofs: { authenticatedAt: longAgo, passedAt: { totp: null, passkey: null } },
  user: partial<UserAccess>({}),
};
/** Sessions that signed in an hour ago. */
const staleCallers: Readonly<Record<string, SessionCaller>> = {
  'a user without a second factor': caller,
  'a user whose session has not passed the second factor': { ...caller, factors: withTotp },
  'a user whose session passed the second factor long ago': {
    ...caller,
    factors: withTotp,
    proofs: { authenticatedAt: longAgo, passedAt: { totp: longAgo, passkey: null } },
  },
  'a user who signed in by a passkey long ago': {
    ...caller,
    factors: { ...noFactors, passkey: true },
    proofs: { authenticatedAt: longAgo, passedAt: { totp: longAgo, passkey: longAgo } },
  },
};
const project = partial<ProjectAccess>({
  id: userId,
  requireTwoFactor: false,
  entitlements: { allow_s3: true },
  roleOf: () => 'owner',
});

/** Returns the code by which the route refuses the caller; null where it does not. */
async function refusalOf({ access, guards }: Route, stale: SessionCaller): Promise<string | null> {
  const gate = makeGate({
    authenticator: {
      session: () => Promise.resolve({ caller: stale, project }),
      apiKey: () => Promise.reject(new Error('no key is presented')),
    },
    checkAgentSecret: () => undefined,
    limiter: makeRateLimiter({ clock, limits: limitsFrom({}) }),
    clock,
  });
  try {
    const request = {
      headers: { authorization: 'Bearer a.b.c', 'x-agent-secret': 's' },
      client: '192.0.2.1',
      admit: () => undefined,
      noteAllowance: () => undefined,
      chargeWork: () => undefined,
    };
    await gate(access, request, () => ({ projectId: userId }));
    if (guards !== undefined) requireGuarded('change_owners', stale, clock.now());
    return null;
  } catch (error) {
    if (error instanceof HttpError) return error.code;
    throw error;
  }
}

test('Every route documents each error by which it refuses a session that is not fresh', async (t) => {
  const stores = await givenStores();
  const routes = areaRoutes(givenCommands(stores), stores);
  const needing: string[] = [];
  for (const route of routes) {
    const documented = [...documentedErrors(route).values()].flat() as readonly string[];
    const codes: (string | null)[] = [];
    for (const [who, stale] of Object.entries(staleCallers)) {
      const code = await refusalOf(route, stale);
      codes.push(code);
      if (code !== null) t.true(documented.includes(code), `${route.name} refuses ${who} with ${code}`);
    }
    // A route that never asks for a reauthentication does not document it
    const asks = codes.includes('reauthentication_required');
    t.is(documented.includes('reauthentication_required'), asks, route.name);
    if (asks) needing.push(route.name);
  }
  for (const name of ['changePassword', 'registerPasskey', 'offerBilling', 'addMember']) {
    t.true(needing.includes(name), name);
  }
});
