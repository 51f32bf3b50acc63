import test from 'ava';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import { challengeSeconds } from '../../../../src/keys/codes/passkey-challenges.js';
import {
  answered,
  loginByPasskey,
  optionsOf,
  provePasskey,
  registerPasskey,
  sessionOf,
} from '../../../support/clients/passkey-calls.js';
import { asObject, textOf } from '../../../support/clients/service-client.js';
import { eventually } from '../../../support/eventually.js';
import { appendEvents } from '../../../support/given/append-events.js';
import {
  cbor,
  type Deviations,
  makeSoftwareAuthenticator,
} from '../../../support/fakes/software-authenticator.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { startTestService } from '../../../support/servers/http-service.js';
import { codeOf } from '../../../support/given/replies.js';

const path = '/api/v1/auth/passkeys';
const zeros = '00000000-0000-0000-0000-000000000000';

test('A passkey is registered, listed, named and removed', async (t) => {
  // Given an account and an authenticator
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  // When it registers a passkey
  const registered = await registerPasskey(service, device, ada, { name: '  Laptop ' });
  t.is(registered.status, 201, registered.text);
  const { recovery_codes: codes, ...passkey } = answered(registered);
  t.is((codes as readonly string[]).length, 10);
  t.like(passkey, { name: 'Laptop', last_used_at: null, synced: true, backed_up: true, aaguid: zeros });
  t.deepEqual(passkey['transports'], ['internal', 'hybrid']);
  // Then the account lists it, and the reply shows no key and no credential id
  const list = await service.get(path, ada);
  t.deepEqual(answered(list), { items: [passkey], next_cursor: null });
  // and gives it another name
  const own = `${path}/${textOf(passkey, 'id')}`;
  const named = await service.ask(own, { method: 'PATCH', json: { name: 'Phone' }, headers: ada });
  t.like(answered(named), { name: 'Phone' });
  // but no other account does
  const eve = await service.signUp('eve');
  t.is((await service.ask(own, { method: 'PATCH', json: { name: 'Mine' }, headers: eve })).status, 404);
  t.is((await service.ask(own, { method: 'DELETE', headers: eve })).status, 404);
  // and after the removal it signs in no more
  const strong = sessionOf(await loginByPasskey(service, device));
  t.is((await service.ask(own, { method: 'DELETE', headers: strong })).status, 204);
  t.is((await service.ask(own, { method: 'DELETE', headers: strong })).status, 404);
  t.is((await loginByPasskey(service, device)).status, 401);
  t.deepEqual(answered(await service.get(path, ada)), { items: [], next_cursor: null });
});

test('The options name no passkey and no person to strangers, and exclude the own passkeys', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  const created = await registerPasskey(service, device, ada);
  t.is(created.status, 201);
  t.is((await provePasskey(service, device, ada)).status, 204);
  const login = answered(await service.post('/api/v1/auth/passkey-login/options', {}));
  t.deepEqual(Object.keys(asObject(login['publicKey'])).sort(), [
    'challenge',
    'rpId',
    'timeout',
    'userVerification',
  ]);
  const options = asObject(
    answered(await service.post('/api/v1/auth/passkey-options', {}, ada))['publicKey'],
  );
  t.like(options, {
    rp: { id: 'example.org' },
    user: { name: 'ada@example.com', displayName: 'ada' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  t.is((options['excludeCredentials'] as unknown[]).length, 1);
  // The user handle is the user's id, so it tells no address.
  t.is(Buffer.from(textOf(asObject(options['user']), 'id'), 'base64url').length, 16);
  t.is((await service.post('/api/v1/auth/passkey-options', {})).status, 401);
});

test('A sign-in by passkey counts as both factors and meets require_2fa', async (t) => {
  // Given an account without TOTP, its passkey, and a project that requires two factors
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  const passkey = textOf(answered(await registerPasskey(service, device, ada)), 'id');
  const project = `/api/v1/projects/${await service.makeProject(ada)}`;
  const require = { method: 'PATCH', json: { require_2fa: true } } as const;
  // The session by password may not require what it does not meet
  t.like((await service.ask(project, { ...require, headers: ada })).json, { code: 'two_factor_required' });
  // When the user signs in by the passkey
  const answer = await loginByPasskey(service, device);
  t.is(answer.status, 200, answer.text);
  t.is(answer.headers.get('cache-control'), 'no-store');
  const session = sessionOf(answer);
  // Then this session may require it and goes on, and the one by password may not enter
  t.is((await service.ask(project, { ...require, headers: session })).status, 200);
  t.is((await service.get(project, session)).status, 200);
  t.like((await service.get(project, ada)).json, { code: 'two_factor_required' });
  // and the session says how it began
  const sessions = answered(await service.get('/api/v1/auth/sessions', session))['items'] as unknown[];
  const current = sessions.map(asObject).find((listed) => listed['current'] === true);
  t.like(current, { methods: ['passkey'], strengthened_at: service.clock.now().toISOString() });
  t.like(answered(await service.get('/api/v1/auth/me', session)), { two_factor_enabled: false });
  // and without any passkey it no longer meets the requirement
  t.is((await service.ask(`${path}/${passkey}`, { method: 'DELETE', headers: session })).status, 204);
  t.like((await service.get(project, session)).json, { code: 'two_factor_required' });
});

const refusedAtSignIn: readonly (readonly [string, Deviations])[] = [
  ['another origin', { origin: 'https://example.org.evil.test' }],
  ['a page in a frame of another origin', { crossOrigin: true }],
  ['a top origin without a frame', { topOrigin: 'https://evil.test' }],
  ['another relying party', { rpId: 'evil.test' }],
  ['no user verification', { isVerified: false }],
  ['no user presence', { isPresent: false }],
  ['the type of a registration', { type: 'webauthn.create' }],
  ['a challenge that the service did not make', { challenge: Buffer.alloc(54, 7).toString('base64url') }],
  ['the handle of a user that does not exist', { userHandle: Buffer.alloc(16, 9).toString('base64url') }],
  ['a user handle that is none', { userHandle: Buffer.alloc(64, 9).toString('base64url') }],
];

for (const [what, deviations] of refusedAtSignIn) {
  test(`A sign-in by passkey is refused: ${what}`, async (t) => {
    const service = await startTestService(t);
    const ada = await service.signUp('ada');
    const device = makeSoftwareAuthenticator();
    t.is((await registerPasskey(service, device, ada)).status, 201);
    const refused = await loginByPasskey(service, device, deviations);
    t.is(refused.status, 401);
    t.like(refused.json, { code: 'invalid_credentials' });
    t.regex(textOf(asObject(refused.json), 'message'), /^the passkey is unknown or was refused/);
    // The same passkey signs in without the deviation.
    t.is((await loginByPasskey(service, device)).status, 200);
  });
}

test('A forged or changed response is refused', async (t) => {
  // Given the passkeys of two accounts
  const service = await startTestService(t);
  const device = makeSoftwareAuthenticator();
  const foreign = makeSoftwareAuthenticator();
  t.is((await registerPasskey(service, device, await service.signUp('ada'))).status, 201);
  t.is((await registerPasskey(service, foreign, await service.signUp('eve'))).status, 201);
  const signIn = async (change: (credential: ReturnType<typeof device.get>) => unknown): Promise<number> => {
    const credential = device.get(await optionsOf(service, 'login'));
    return (await service.post('/api/v1/auth/passkey-login', { credential: change(credential) })).status;
  };
  const other = foreign.get(await optionsOf(service, 'login'));
  // When a part of the response is another one, then the service refuses it
  const flipped = (text: string): string => {
    const bytes = Buffer.from(text, 'base64url');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    return bytes.toString('base64url');
  };
  for (const part of ['signature', 'authenticatorData', 'clientDataJSON'] as const) {
    const status = await signIn((credential) => {
      const response = { ...credential.response, [part]: flipped(credential.response[part]) };
      return { ...credential, response };
    });
    t.is(status, 401, part);
  }
  t.is(await signIn((credential) => ({ ...credential, id: other.id })), 401, 'the id of another passkey');
  const handle = other.response.userHandle;
  const asEve = await signIn(({ response, ...rest }) => ({
    ...rest,
    response: { ...response, userHandle: handle },
  }));
  t.is(asEve, 401, 'the handle of another user');
  const signature = other.response.signature;
  const signed = await signIn(({ response, ...rest }) => ({ ...rest, response: { ...response, signature } }));
  t.is(signed, 401, 'the signature of another passkey');
  // and only the unchanged one signs in
  t.is(await signIn((credential) => credential), 200);
});

test('A challenge is good for one use, for five minutes, and for one purpose', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator({ counts: false });
  t.is((await registerPasskey(service, device, ada)).status, 201);
  const signIn = async (credential: unknown) =>
    (await service.post('/api/v1/auth/passkey-login', { credential })).status;
  // A response signs in once, also when two come at once
  const login = await optionsOf(service, 'login');
  const credential = device.get(login);
  const statuses = await Promise.all([signIn(credential), signIn(credential)]);
  t.deepEqual(statuses.sort(), [200, 401]);
  t.is(await signIn(device.get(login)), 401, 'a new signature over the used challenge');
  t.is((await provePasskey(service, device, ada)).status, 204);
  // A challenge of a registration signs no one in, and that of another session registers nothing
  const forRegistration = await optionsOf(service, 'register', ada);
  t.is(await signIn(device.get({ ...login, challenge: forRegistration.challenge })), 401);
  const eve = await service.signUp('eve');
  const stolen = makeSoftwareAuthenticator().create(await optionsOf(service, 'register', eve));
  const refused = await service.post(path, { credential: stolen }, ada);
  t.is(refused.status, 401);
  t.regex(refused.text, /the challenge is not of this session or is over/);
  const ofLogin = makeSoftwareAuthenticator().create({
    ...forRegistration,
    challenge: (await optionsOf(service, 'login')).challenge,
  });
  t.is((await service.post(path, { credential: ofLogin }, ada)).status, 401);
  // A registration is not repeated
  const created = makeSoftwareAuthenticator().create(forRegistration);
  t.is((await service.post(path, { credential: created }, ada)).status, 201);
  const again = await service.post(path, { credential: created }, ada);
  t.is(again.status, 401);
  t.regex(again.text, /the challenge was used/);
  // The challenge ends after five minutes
  const late = device.get(await optionsOf(service, 'login'));
  service.clock.advance(challengeSeconds * 1_000 - 1);
  t.is(await signIn(late), 200);
  const tooLate = device.get(await optionsOf(service, 'login'));
  service.clock.advance(challengeSeconds * 1_000);
  t.is(await signIn(tooLate), 401);
});

const refusedAtRegistration: readonly (readonly [string, Deviations])[] = [
  ['another origin', { origin: 'https://evil.test' }],
  ['a page in a frame of another origin', { crossOrigin: true }],
  ['a top origin without a frame', { topOrigin: 'https://evil.test' }],
  ['a key that is no point of the curve', { y: Buffer.alloc(32, 1) }],
  ['another relying party', { rpId: 'evil.test' }],
  ['no user verification', { isVerified: false }],
  ['the type of a sign-in', { type: 'webauthn.get' }],
  [
    'an attestation with a certificate, whose revocation list would be fetched',
    {
      attestation: {
        format: 'packed',
        statement: new Map<string, never>([
          ['alg', -7 as never],
          ['sig', Buffer.alloc(70, 1) as never],
          ['x5c', [Buffer.alloc(200, 1)] as never],
        ]),
      },
    },
  ],
  ['an unknown attestation', { attestation: { format: 'android-safetynet', statement: new Map() } }],
];

for (const [what, deviations] of refusedAtRegistration) {
  test(`A registration of a passkey is refused: ${what}`, async (t) => {
    const service = await startTestService(t);
    const ada = await service.signUp('ada');
    const refused = await registerPasskey(service, makeSoftwareAuthenticator(), ada, deviations);
    t.deepEqual(codeOf(refused), [401, 'invalid_credentials']);
    t.deepEqual(answered(await service.get(path, ada)), { items: [], next_cursor: null });
  });
}

test('A credential id of another account is not registered again', async (t) => {
  const service = await startTestService(t);
  const [ada, eve] = [await service.signUp('ada'), await service.signUp('eve')];
  const device = makeSoftwareAuthenticator();
  const credential = device.create(await optionsOf(service, 'register', ada));
  t.is((await service.post(path, { credential }, ada)).status, 201);
  // When another account presents the id with another key
  const id = Buffer.from(credential.id, 'base64url');
  const refused = await registerPasskey(service, makeSoftwareAuthenticator(), eve, { id });
  // Then it has no passkey, and the first account signs in as before
  t.is(refused.status, 409, refused.text);
  t.deepEqual(answered(await service.get(path, eve)), { items: [], next_cursor: null });
  t.is((await loginByPasskey(service, device)).status, 200);
});

test('Of two accounts that register one credential id at the same moment, one is refused', async (t) => {
  // Given a service in which the first search for holders of a credential ends late
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let searches = 0;
  const wrapDocuments = (store: ReadModelStore): ReadModelStore => ({
    ...store,
    ids: async (collection, query) => {
      const found = await store.ids(collection, query);
      const isSearch = query.where.field === 'passkeys.credential_digest';
      if (isSearch && (searches += 1) === 1) await opened;
      return found;
    },
  });
  const service = await startTestService(t, { storeOptions: { wrapDocuments } });
  const [ada, eve] = [await service.signUp('ada'), await service.signUp('eve')];
  const register = (owner: typeof ada) =>
    registerPasskey(service, makeSoftwareAuthenticator(), owner, { id: Buffer.alloc(32, 7) });
  const first = register(ada);
  await eventually('a search', () => searches === 1);
  // When another account registers the id meanwhile
  const second = await register(eve);
  open();
  t.deepEqual([(await first).status, second.status], [201, 409]);
});

test('A passkey makes a session fresh again, once for each challenge of this session', async (t) => {
  // Given a session by password that is no longer fresh, and its renewed access token
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  t.is((await registerPasskey(service, device, ada)).status, 201);
  const verdict = await service.commands.accessTokens.verify(ada.authorization.slice('Bearer '.length));
  if (!verdict.valid) return t.fail();
  const { userId, sessionId } = verdict.claims;
  service.clock.advance(15 * 60_000 + 1);
  const claims = { userId, sessionId, authenticatedAt: service.clock.now(), methods: ['pwd'] };
  const { token } = await service.commands.accessTokens.sign(claims);
  const session = { authorization: `Bearer ${token}` };
  t.like((await service.post('/api/v1/auth/passkey-options', {}, session)).json, {
    code: 'two_factor_required',
  });
  // When the passkey answers a challenge of a sign-in, then the session stays as it is
  const prove = async (options: Awaited<ReturnType<typeof optionsOf>>) =>
    service.post('/api/v1/auth/reauthenticate', { passkey: device.get(options) }, session);
  t.is((await prove(await optionsOf(service, 'login'))).status, 401);
  // When it answers a challenge of the session, then the session is fresh
  const options = await optionsOf(service, 'reauthenticate', session);
  t.is((await prove(options)).status, 204);
  t.is((await prove(options)).status, 401);
  t.is((await service.post('/api/v1/auth/passkey-options', {}, session)).status, 200);
  t.is((await service.post('/api/v1/auth/reauthenticate', { passkey: 1 }, session)).status, 400);
});

test('A malformed body is refused before anything is read', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  const credential = device.create(await optionsOf(service, 'register', ada));
  for (const wrong of [
    { ...credential, type: 'password' },
    { ...credential, id: 'not base64url!' },
    { ...credential, response: { ...credential.response, attestationObject: undefined } },
  ]) {
    t.is((await service.post(path, { credential: wrong }, ada)).status, 400);
  }
  const broken = { ...credential.response, attestationObject: cbor('no map').toString('base64url') };
  t.is((await service.post(path, { credential: { ...credential, response: broken } }, ada)).status, 401);
  t.is(
    (await service.post('/api/v1/auth/passkey-login', { credential: { ...credential, response: {} } }))
      .status,
    400,
  );
});

test('Browsers and password managers may write null or nothing for transports and user handle', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  const made = device.create(await optionsOf(service, 'register', ada));
  const credential = { ...made, response: { ...made.response, transports: null } };
  t.is((await service.post(path, { credential, name: 'vault' }, ada)).status, 201);
  for (const userHandle of ['', null]) {
    const { response, ...rest } = device.get(await optionsOf(service, 'reauthenticate', ada));
    const passkey = { ...rest, response: { ...response, userHandle } };
    t.is((await service.post('/api/v1/auth/reauthenticate', { passkey }, ada)).status, 204);
  }
});

test('The counter of a synced passkey is not compared, because each device counts for itself', async (t) => {
  const service = await startTestService(t);
  const device = makeSoftwareAuthenticator();
  t.is((await registerPasskey(service, device, await service.signUp('ada'))).status, 201);
  for (const counter of [5, 4, 4, 0]) t.is((await loginByPasskey(service, device, { counter })).status, 200);
});

test('A counter that does not rise is refused, and the user gets a notice', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  t.is((await registerPasskey(service, device, ada, { isSynced: false })).status, 201);
  t.is((await loginByPasskey(service, device, { isSynced: false, counter: 5 })).status, 200);
  t.is((await loginByPasskey(service, device, { isSynced: false, counter: 5 })).status, 401);
  t.is((await loginByPasskey(service, device, { isSynced: false, counter: 4 })).status, 401);
  t.is((await loginByPasskey(service, device, { isSynced: false, counter: 0 })).status, 401);
  t.is((await loginByPasskey(service, device, { isSynced: false, counter: 6 })).status, 200);
  const userId = await service.verify('ada');
  const { state } = await service.stores.handler.load(userAggregate, userId);
  t.deepEqual(state.status === 'registered' ? state.notices.recent.map(({ kind }) => kind) : [], [
    'passkey_added',
    'passkey_refused',
    'passkey_refused',
    'passkey_refused',
  ]);
});

test('The first proof of an address by a code voids the passkeys that a stranger registered', async (t) => {
  const service = await startTestService(t);
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  t.is((await registerPasskey(service, device, ada)).status, 201);
  const email_digest = service.stores.digests.email('ada@example.com');
  const userId = (await service.commands.findAccount(email_digest))?.userId ?? '';
  const target = { aggregate: userAggregate, id: userId };
  const voided = [
    { type: 'EmailVerified', data: { email_digest } },
    { type: 'CredentialsVoided', data: {} },
  ] as const;
  t.is((await provePasskey(service, device, ada)).status, 204);
  // A registration that is under way while the address is proved does not survive either
  const credential = makeSoftwareAuthenticator().create(await optionsOf(service, 'register', ada));
  const verdict = await service.commands.accessTokens.verify(ada.authorization.slice('Bearer '.length));
  if (!verdict.valid) return t.fail();
  await appendEvents(service.stores.handler, target, voided, service.clock.now());
  t.is((await loginByPasskey(service, device)).status, 401);
  const input = {
    userId,
    session: { id: verdict.claims.sessionId, epoch: 0 },
    response: credential,
    name: 'x',
  };
  const context = givenContext(7_000, service.clock.now());
  const error = await t.throwsAsync(service.commands.registerPasskey(input, context));
  t.like(error, { code: 'session_ended' });
  // Nor does such a session remove one
  const { session } = input;
  const removal = { userId, session, passkeyId: 'any' };
  const refusal = await t.throwsAsync(service.commands.removePasskey(removal, context));
  t.like(refusal, { code: 'session_ended' });
});

test('A banned account does not sign in by its passkey', async (t) => {
  const service = await startTestService(t);
  const device = makeSoftwareAuthenticator();
  t.is((await registerPasskey(service, device, await service.signUp('ada'))).status, 201);
  const user = { aggregate: userAggregate, id: await service.verify('ada') };
  const banned = { type: 'UserBanned', data: {} } as const;
  await appendEvents(service.stores.handler, user, [banned], service.clock.now());
  t.deepEqual(codeOf(await loginByPasskey(service, device)), [403, 'account_banned']);
});

test('An account has at most 20 passkeys', async (t) => {
  const service = await startTestService(t, { rates: { two_factor: { limit: 100, seconds: 60 } } });
  const ada = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  t.is((await registerPasskey(service, device, ada)).status, 201);
  t.is((await provePasskey(service, device, ada)).status, 204);
  for (let made = 1; made < 20; made += 1) {
    t.is((await registerPasskey(service, makeSoftwareAuthenticator(), ada)).status, 201);
  }
  t.deepEqual(codeOf(await service.post('/api/v1/auth/passkey-options', {}, ada)), [409, 'conflict']);
});

test('Tries of a client are limited, and asking for challenges writes nothing', async (t) => {
  const service = await startTestService(t);
  const device = makeSoftwareAuthenticator();
  t.is((await registerPasskey(service, device, await service.signUp('ada'))).status, 201);
  const records = async () =>
    (await service.stores.stateStore.list('passkey-challenge/', { limit: 100 })).length;
  const before = await records();
  const statuses: number[] = [];
  for (let asked = 0; asked < 61; asked += 1) {
    statuses.push((await service.post('/api/v1/auth/passkey-login/options', {})).status);
  }
  t.deepEqual([statuses.slice(0, 60).every((status) => status === 200), statuses[60]], [true, 429]);
  service.clock.advance(60_000);
  let last = 0;
  for (let tried = 0; tried < 21 && last !== 429; tried += 1) {
    last = (await loginByPasskey(service, device, { isVerified: false })).status;
  }
  t.is(last, 429);
  t.is(await records(), before, 'refused tries leave no record');
});
