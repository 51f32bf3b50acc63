import test from 'ava';
import type { ExecutionContext } from 'ava';
import type { GuardedAction } from '../../../../src/areas/accounts/domain/guard.js';
import type { Answer, AskOptions } from '../../../support/clients/http-app.js';
import {
  answered,
  loginByPasskey,
  registerPasskey,
  sessionOf,
} from '../../../support/clients/passkey-calls.js';
import { asObject, textOf } from '../../../support/clients/service-client.js';
import { totpCode } from '../../../support/fakes/authenticator-app.js';
import {
  makeSoftwareAuthenticator,
  type SoftwareAuthenticator,
} from '../../../support/fakes/software-authenticator.js';
import { givenFreshAccount, minuteMs, type TestSession } from '../../../support/given/fresh-account.js';
import { tokenOf } from '../../../support/given/replies.js';
import { givenContext } from '../../../support/given/given-stores.js';

/**
 * What each action answers, by the factors of the account and then by the ways to sign in, in their order:
 * `+` it is admitted, `F` 403 two_factor_required, `S` 403 reauthentication_required.
 */
const ways = {
  none: ['password', 'code', 'refresh'],
  totp: ['password', 'code', 'refresh', 'password, then TOTP'],
  passkey: ['password', 'code', 'passkey', 'refresh'],
  both: ['password', 'code', 'passkey', 'refresh', 'password, then TOTP'],
} as const;
type Factors = keyof typeof ways;
type Way = (typeof ways)[Factors][number];

const table: Readonly<Record<GuardedAction, Readonly<Record<Factors, string>>>> = {
  begin: { none: '+++', totp: '++++', passkey: '++++', both: '+++++' },
  reauthenticate: { none: '+++', totp: 'FF++', passkey: '++++', both: '+++++' },
  use: { none: '+++', totp: 'FF++', passkey: '++++', both: 'FF+++' },
  enter_guarded_project: { none: 'FFF', totp: 'FF++', passkey: 'FF++', both: 'FF+++' },
  add_totp: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+FF' },
  add_passkey: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+FF' },
  remove_totp: { none: '++S', totp: 'FF++', passkey: 'FF+F', both: 'FF+FF' },
  remove_passkey: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+FF' },
  replace_recovery_codes: { none: '++S', totp: 'FF++', passkey: 'FF+F', both: 'FF+FF' },
  issue_api_key: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+FF' },
  set_require_2fa: { none: 'FFF', totp: 'FFF+', passkey: 'FF+F', both: 'FF+FF' },
  unset_require_2fa: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+FF' },
  change_password: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  change_address: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  delete_account: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  accept_invitation: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  change_owners: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  offer_billing: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  allow_open_shares: { none: '++S', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  change_members: { none: '+++', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  change_storages: { none: '+++', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  delete_project: { none: '+++', totp: 'FFF+', passkey: 'FF+F', both: 'FF+F+' },
  operate: { none: 'FFF', totp: 'FF++', passkey: 'FF++', both: 'FF++F' },
  decide_on_payments: { none: 'FFF', totp: 'FFF+', passkey: 'FF+F', both: 'FF+FF' },
  audit: { none: 'FFF', totp: 'FF++', passkey: 'FF++', both: 'FF++F' },
};

const absent = '019b7d00-0000-7000-8000-ffffffffffff';

interface Scene {
  /** A project of the account, one that requires two factors, and one of another account. */
  readonly own: string;
  readonly guarded: string;
  readonly foreign: string;
  readonly userId: string;
}

/** Makes a request that the work refuses, for each action, so that none changes what the next one finds. */
function requestsOf({ own, guarded, foreign, userId }: Scene): Record<GuardedAction, [string, AskOptions][]> {
  const auth = (path: string, method = 'POST'): [string, AskOptions] => [
    `/api/v1/auth/${path}`,
    method === 'GET' ? {} : { method, body: 'x', headers: { 'content-type': 'text/plain' } },
  ];
  const inProject = (path: string, method = 'POST'): [string, AskOptions] => [
    `${own}${path}`,
    { method, body: 'x', headers: { 'content-type': 'text/plain' } },
  ];
  const change = (json: object): [string, AskOptions][] => [
    [own, { method: 'PATCH', json, headers: { 'if-match': '"1-aaaaaaaaaaaaaaaaaaaaaa"' } }],
  ];
  return {
    begin: [auth('me', 'GET'), auth('2fa/verify')],
    reauthenticate: [auth('reauthenticate'), auth('reauthenticate/options')],
    use: [
      auth('sessions', 'GET'),
      [`/api/v1/auth/sessions/${absent}`, { method: 'DELETE' }],
      [`${own}/api-keys/${absent}`, { method: 'DELETE' }],
    ],
    enter_guarded_project: [[guarded, {}]],
    add_totp: [auth('2fa/totp'), auth('2fa/totp/confirm')],
    add_passkey: [auth('passkey-options'), auth('passkeys')],
    remove_totp: [auth('2fa/totp/remove')],
    remove_passkey: [[`/api/v1/auth/passkeys/${absent}`, { method: 'DELETE' }]],
    replace_recovery_codes: [auth('2fa/recovery-codes')],
    issue_api_key: [inProject('/api-keys')],
    set_require_2fa: change({ require_2fa: true }),
    unset_require_2fa: change({ require_2fa: false }),
    change_password: [auth('password')],
    change_address: [auth('email'), auth('email/confirm')],
    delete_account: [['/api/v1/auth/me?nothing=1', { method: 'DELETE' }]],
    accept_invitation: [auth(`invitations/${absent}/accept`)],
    change_owners: [[`${own}/members/${userId}`, { method: 'DELETE' }]],
    offer_billing: [inProject('/billing-offer', 'PUT')],
    allow_open_shares: change({ open_shares: true }),
    change_members: [inProject('/members'), [`${own}/members/${absent}`, { method: 'DELETE' }]],
    change_storages: [inProject('/storages')],
    delete_project: [[`${own}?nothing=1`, { method: 'DELETE' }]],
    operate: [['/api/v1/admin/nodes', {}]],
    decide_on_payments: [
      [
        '/api/v1/admin/payments/record',
        { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } },
      ],
    ],
    audit: [
      ['/audit/status', {}],
      [foreign, {}],
      [`${foreign}/members`, {}],
    ],
  };
}

/** Given an account with these factors that is operator and auditor, and a session of each way to sign in. */
async function given(t: ExecutionContext, factors: Factors) {
  const account = await givenFreshAccount(t);
  const { post, clock, commands, signIn, wait } = account;
  const first = await signIn();
  const headers = { authorization: first.authorization };
  for (const role of ['operator', 'auditor'] as const) await account.grantRole(role, 'ada');
  const userId = await account.verify('ada');
  const [own, guarded] = [await account.makeProject(headers), await account.makeProject(headers)];
  const foreign = await account.makeProject(await account.signUp('eve'));
  const demand = { projectId: guarded, actorId: userId, changes: { require_2fa: true } };
  await commands.changeProject(demand, givenContext(6_000, clock.now()));
  let secret = '';
  if (factors === 'totp' || factors === 'both') {
    const enrolled = await post('/api/v1/auth/2fa/totp', {}, headers);
    secret = textOf(answered(enrolled), 'secret');
    const code = totpCode(secret, clock.now());
    t.is((await post('/api/v1/auth/2fa/totp/confirm', { code }, headers)).status, 200);
  }
  const device: SoftwareAuthenticator = makeSoftwareAuthenticator();
  if (factors === 'passkey' || factors === 'both') {
    t.is((await registerPasskey(account, device, headers)).status, 201);
  }
  const verified = async (session: TestSession): Promise<TestSession> => {
    clock.advance(minuteMs);
    const body = { code: totpCode(secret, clock.now()) };
    const passed = await post('/api/v1/auth/2fa/verify', body, { authorization: session.authorization });
    return tokensIn(passed);
  };
  const byCode = async () => {
    const code = await account.codeFor('ada@example.com');
    return tokensIn(await post('/api/v1/auth/email-code/login', { email: 'ada@example.com', code }));
  };
  // The strongest way to sign in, 16 minutes ago, and a refresh since then.
  const strongest =
    factors === 'none'
      ? await signIn()
      : factors === 'totp'
        ? await verified(await signIn())
        : tokensIn(await loginByPasskey(account, device));
  const refreshed = await wait(16 * minuteMs, strongest);
  const makers: Readonly<Record<Way, () => Promise<{ readonly authorization: string }>>> = {
    password: () => signIn(),
    code: byCode,
    passkey: async () => sessionOf(await loginByPasskey(account, device)),
    refresh: () => Promise.resolve(refreshed),
    'password, then TOTP': async () => verified(await signIn()),
  };
  const project = (id: string) => `/api/v1/projects/${id}`;
  const scene = { own: project(own), guarded: project(guarded), foreign: project(foreign), userId };
  return { account, scene, makers };
}

const tokensIn = (answer: Pick<Answer, 'json'>): TestSession => ({
  ...sessionOf(answer),
  refreshToken: tokenOf(answer, 'refresh_token'),
});

const refusals: Readonly<Record<string, string>> = {
  two_factor_required: 'F',
  reauthentication_required: 'S',
};

for (const factors of Object.keys(ways) as Factors[]) {
  test(`An account with ${factors} of the factors carries out each action by the sign-ins of the table`, async (t) => {
    const { account, scene, makers } = await given(t, factors);
    const requests = requestsOf(scene);
    const actions = Object.keys(table) as GuardedAction[];
    const found = new Map<GuardedAction, string>(actions.map((action) => [action, '']));
    for (const way of ways[factors]) {
      const { authorization } = await makers[way]();
      for (const action of actions) {
        const answers = new Set<string>();
        for (const [path, { headers = {}, ...rest }] of requests[action]) {
          const { status, json } = await account.ask(path, {
            ...rest,
            headers: { ...headers, authorization },
          });
          const code = status < 400 ? '' : textOf(asObject(json), 'code');
          t.not(status, 401, `${action} ${way}`);
          t.not(code, 'insufficient_role', `${action} ${way}`);
          answers.add(refusals[code] ?? '+');
        }
        t.is(answers.size, 1, `${action} by ${way}: ${[...answers].join()}`);
        found.set(action, `${found.get(action) ?? ''}${[...answers].join('')}`);
      }
    }
    t.deepEqual(
      Object.fromEntries(found),
      Object.fromEntries(actions.map((action) => [action, table[action][factors]])),
    );
  });
}
