import test from 'ava';
import {
  type FreshAccount,
  givenFreshAccount,
  minuteMs,
  statusOf,
} from '../../../support/given/fresh-account.js';
import { totpCode } from '../../../support/fakes/authenticator-app.js';
import {
  answered,
  loginByPasskey,
  registerPasskey,
  sessionOf,
} from '../../../support/clients/passkey-calls.js';
import { asObject, textOf } from '../../../support/clients/service-client.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { makeSoftwareAuthenticator } from '../../../support/fakes/software-authenticator.js';
import { password } from '../../../support/servers/http-service.js';

const owner = 'ada@example.com';
const thief = 'thief@example.net';
const hourMs = 60 * minuteMs;

async function signInByCode({ codeFor, post }: FreshAccount, email: string) {
  const answer = await post('/api/v1/auth/email-code/login', { email, code: await codeFor(email) });
  return { user: asObject(answered(answer)['user']), ...sessionOf(answer) };
}

test('The former address undoes what a thief with a fresh access token did', async (t) => {
  // Given a thief who moves the account away, and sets a password and a second factor
  const account = await givenFreshAccount(t);
  const { post, get, signIn, changeAddress, revertCodeFor, revert } = account;
  const stolen = await signIn();
  await account.passTwoFactor(stolen);
  await changeAddress(stolen, thief);
  const moved = await signInByCode(account, thief);
  const refused = await post('/api/v1/auth/email-code/login', { email: owner, code: '123456' });
  t.is(refused.status, 401, 'the owner cannot sign in');
  // When the owner uses the code of the notice, 71 hours later
  account.clock.advance(71 * hourMs);
  const back = await revert(owner, await revertCodeFor(owner));
  t.is(back.status, 204, back.text);
  t.is(back.text, '');
  // Then all sessions have ended, the password is void, and the second factor is off
  t.is((await post('/api/v1/auth/refresh', { refresh_token: stolen.refreshToken })).status, 401);
  t.is((await get('/api/v1/auth/me', { authorization: moved.authorization })).status, 401);
  t.is((await post('/api/v1/auth/login', { email: owner, password })).status, 401);
  t.is((await post('/api/v1/auth/login', { email: thief, password })).status, 401);
  // and the owner signs in by a mailed code, and chooses a password
  const { user, authorization } = await signInByCode(account, owner);
  t.like(user, { email: owner, email_verified: true, two_factor_enabled: false });
  const chosen = { new_password: 'Owners-Horse-9' };
  t.is((await post('/api/v1/auth/password', chosen, { authorization })).status, 204);
  t.truthy((await signIn(owner, chosen.new_password)).authorization);
});

test('A second factor, recovery codes and a password from long before the change stay', async (t) => {
  const account = await givenFreshAccount(t);
  const { post, signIn, clock, changeAddress, revert, revertCodeFor } = account;
  const first = await signIn();
  const enrolled = answered(await post('/api/v1/auth/2fa/totp', {}, { authorization: first.authorization }));
  const secret = textOf(enrolled, 'secret');
  const code = () => totpCode(secret, clock.now());
  await post('/api/v1/auth/2fa/totp/confirm', { code: code() }, { authorization: first.authorization });
  clock.advance(72 * hourMs);
  const session = await signIn();
  const headers = { authorization: session.authorization };
  t.is((await post('/api/v1/auth/2fa/verify', { code: code() }, headers)).status, 200);
  await changeAddress(session, thief);
  t.is((await revert(owner, await revertCodeFor(owner))).status, 204);
  const again = await signIn();
  const me = answered(await account.get('/api/v1/auth/me', { authorization: again.authorization }));
  t.like(me, { email: owner, two_factor_enabled: true });
  clock.advance(minuteMs);
  const verified = await post(
    '/api/v1/auth/2fa/verify',
    { code: code() },
    { authorization: again.authorization },
  );
  t.is(verified.status, 200, verified.text);
});

test('A revert voids the passkeys that a thief may have registered, and keeps those from long before the change', async (t) => {
  for (const isOld of [false, true]) {
    const account = await givenFreshAccount(t);
    const device = makeSoftwareAuthenticator();
    const first = await account.signIn();
    t.is((await registerPasskey(account, device, { authorization: first.authorization })).status, 201);
    if (isOld) account.clock.advance(73 * hourMs);
    const stolen = sessionOf(await loginByPasskey(account, device));
    const young = makeSoftwareAuthenticator();
    t.is((await registerPasskey(account, young, stolen)).status, 201);
    await account.changeAddress(stolen, thief);
    t.is((await loginByPasskey(account, young)).status, 200);
    // When the owner puts the address back
    t.is((await account.revert(owner, await account.revertCodeFor(owner))).status, 204);
    // Then only a passkey that is older than any thief signs in
    t.is((await loginByPasskey(account, device)).status, isOld ? 200 : 401);
    t.is((await loginByPasskey(account, young)).status, 401);
    // and beside it the password stays
    const byPassword = await account.post('/api/v1/auth/login', { email: owner, password });
    t.is(byPassword.status, isOld ? 200 : 401);
    const { authorization } = await signInByCode(account, owner);
    const { items } = answered(await account.get('/api/v1/auth/passkeys', { authorization }));
    t.is((items as readonly unknown[]).length, isOld ? 1 : 0);
  }
});

test('The oldest address wins after several changes, and the codes of later ones are void', async (t) => {
  const account = await givenFreshAccount(t);
  const { signIn, changeAddress, revert, revertCodeFor } = account;
  const stolen = await signIn();
  await changeAddress(stolen, thief);
  await changeAddress(stolen, 'thief@example.org');
  await changeAddress(stolen, 'thief@example.edu');
  const codes = { owner: await revertCodeFor(owner), thief: await revertCodeFor(thief) };
  // When the thief undoes a later change first
  t.is((await revert(thief, codes.thief)).status, 204);
  // Then the owner still gets the account back
  t.is((await revert(owner, codes.owner)).status, 204);
  t.like((await signInByCode(account, owner)).user, { email: owner });
  // and no code of the thief works any more
  const left = [thief, 'thief@example.org'] as const;
  for (const email of left) {
    t.is(statusOf(await revert(email, await revertCodeFor(email))), '401 invalid_credentials', email);
  }
  t.like((await signInByCode(account, owner)).user, { email: owner });
});

test('A return to the former address gives the address in between no code', async (t) => {
  const account = await givenFreshAccount(t);
  const { signIn, changeAddress, revertCodeFor, post } = account;
  const session = await signIn();
  await changeAddress(session, thief);
  await changeAddress(session, owner);
  await t.throwsAsync(revertCodeFor(thief), undefined, 'the change has no code');
  t.is((await post('/api/v1/auth/register', { email: thief, password })).status, 201, 'the address is free');
});

test('No account registers or takes a former address for 72 hours, and the owner cannot undo the change after that', async (t) => {
  const account = await givenFreshAccount(t);
  const { signIn, signUp, changeAddress, revert, revertCodeFor, post, clock } = account;
  const stolen = await signIn();
  await changeAddress(stolen, thief);
  const code = await revertCodeFor(owner);
  const bob = await signUp('bob');
  t.is(statusOf(await post('/api/v1/auth/register', { email: owner, password })), '409 email_taken');
  t.is(statusOf(await post('/api/v1/auth/email', { email: owner }, bob)), '409 email_taken');
  clock.advance(72 * hourMs);
  t.is(statusOf(await revert(owner, code)), '401 invalid_credentials');
  t.is((await post('/api/v1/auth/register', { email: owner, password })).status, 201);
  t.is(statusOf(await revert(owner, code)), '401 invalid_credentials');
  t.like((await signInByCode(account, thief)).user, { email: thief });
});

test('A wrong code, a code of another address and an unknown address get the same refusal, and void nothing', async (t) => {
  const account = await givenFreshAccount(t);
  const { signIn, changeAddress, revert, revertCodeFor, clock, post } = account;
  await changeAddress(await signIn(), thief);
  const code = await revertCodeFor(owner);
  t.regex(code, /^([0-9A-HJKMNP-TV-Z]{5}-){3}[0-9A-HJKMNP-TV-Z]{5}$/);
  const wrong = `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`;
  const refusals = new Set<string>();
  for (const [email, typed] of [
    [owner, wrong],
    [thief, code],
    ['nobody@example.com', code],
    [owner, '123456'],
  ] as const) {
    const answer = await revert(email, typed);
    t.is(statusOf(answer), '401 invalid_credentials');
    refusals.add(answer.text);
  }
  t.is(refusals.size, 1);
  for (let n = 0; n < 6; n += 1) await revert(owner, wrong);
  const limited = await revert(owner, wrong);
  t.is(statusOf(limited), '429 rate_limited', 'a client has ten attempts a minute');
  clock.advance(minuteMs);
  for (const body of [
    {},
    { code },
    { email: owner },
    { email: 'x', code },
    { email: owner, code, more: 1 },
  ]) {
    t.is(
      statusOf(await post('/api/v1/auth/email/revert', body)),
      '400 invalid_request',
      JSON.stringify(body),
    );
  }
  // Failures do not use the code up, so a thief cannot block the owner.
  t.is((await revert(` ${owner.toUpperCase()} `, code.toLowerCase().replaceAll('-', ' '))).status, 204);
  t.notRegex(account.logLines.join(''), new RegExp(`${code}|${owner}|${thief}`));
});

test('A repeated revert changes nothing', async (t) => {
  const account = await givenFreshAccount(t);
  const { signIn, changeAddress, revert, revertCodeFor, get } = account;
  await changeAddress(await signIn(), thief);
  const code = await revertCodeFor(owner);
  t.is((await revert(owner, code)).status, 204);
  const { authorization } = await signInByCode(account, owner);
  t.is((await revert(owner, code)).status, 204);
  t.is((await get('/api/v1/auth/me', { authorization })).status, 200, 'the new session goes on');
});

test('A revert ends a pending change, whose address is free again', async (t) => {
  const account = await givenFreshAccount(t);
  const { signIn, changeAddress, revert, revertCodeFor, post, clock } = account;
  const stolen = await signIn();
  await changeAddress(stolen, thief);
  clock.advance(minuteMs);
  const asked = { email: 'thief@example.org' };
  t.is((await post('/api/v1/auth/email', asked, { authorization: stolen.authorization })).status, 200);
  t.is((await revert(owner, await revertCodeFor(owner))).status, 204);
  const { user, authorization } = await signInByCode(account, owner);
  t.like(user, { email: owner });
  const confirmed = await post('/api/v1/auth/email/confirm', { code: '123456' }, { authorization });
  t.is(statusOf(confirmed), '401 invalid_credentials');
  for (const email of [thief, asked.email]) {
    t.is((await post('/api/v1/auth/register', { email, password })).status, 201, email);
  }
});

test('An erased account gives its former address free, and no code brings it back', async (t) => {
  const account = await givenFreshAccount(t);
  const { signIn, changeAddress, revert, revertCodeFor, post, ask } = account;
  const session = await signIn();
  await changeAddress(session, thief);
  const code = await revertCodeFor(owner);
  const { authorization } = session;
  t.is((await ask('/api/v1/auth/me', { method: 'DELETE', headers: { authorization } })).status, 204);
  t.is(statusOf(await revert(owner, code)), '401 invalid_credentials');
  for (const email of [owner, thief]) {
    t.is((await post('/api/v1/auth/register', { email, password })).status, 201, email);
  }
});

test('An account changes its address ten times in 72 hours at most', async (t) => {
  const account = await givenFreshAccount(t);
  const { signIn, changeAddress, post, clock, revert, revertCodeFor } = account;
  for (let n = 0; n < 10; n += 1) {
    clock.advance(hourMs);
    const email = n === 0 ? owner : `thief-${n - 1}@example.net`;
    await changeAddress(await signIn(email), `thief-${n}@example.net`);
  }
  clock.advance(hourMs);
  const { authorization } = await signIn('thief-9@example.net');
  const refused = await post('/api/v1/auth/email', { email: 'x@example.net' }, { authorization });
  t.is(statusOf(refused), '429 too_many_attempts');
  t.true(Number(refused.headers.get('retry-after')) > 60 * 3_600);
  t.is((await revert(owner, await revertCodeFor(owner))).status, 204, 'the owner still gets it back');
});

test('An operator puts the oldest former address back', async (t) => {
  const account = await givenFreshAccount(t);
  const { signIn, changeAddress, commands, stores, clock } = account;
  const stolen = await signIn();
  await changeAddress(stolen, thief);
  await changeAddress(stolen, 'thief@example.org');
  const userId = (await commands.findAccount(stores.digests.email('thief@example.org')))?.userId ?? '';
  const context = givenContext(6_000, clock.now(), 'operator');
  await commands.restoreAddress({ userId, email_digest: null }, context);
  t.like((await signInByCode(account, owner)).user, { email: owner, email_verified: true });
  await commands.restoreAddress({ userId, email_digest: null }, context);
  const { authorization } = await signInByCode(account, owner);
  t.is((await account.get('/api/v1/auth/me', { authorization })).status, 200);
});

test('An operator puts back the former address by which the account is named', async (t) => {
  // Given an owner who has moved to another address, and a thief who moved the account away from there
  const account = await givenFreshAccount(t);
  const { signIn, changeAddress, commands, clock } = account;
  const moved = 'ada@example.org';
  const stolen = await signIn();
  await changeAddress(stolen, moved);
  await changeAddress(stolen, thief);
  const context = givenContext(6_000, clock.now(), 'operator');
  const restore = async (name: string) =>
    commands.restoreAddress(await commands.accountByName(name), context);
  // When the operator names the later address, then it is the one that is back
  await restore(moved);
  const { user, authorization } = await signInByCode(account, moved);
  t.like(user, { email: moved });
  // and a repetition changes nothing
  await restore(moved);
  t.is((await account.get('/api/v1/auth/me', { authorization })).status, 200);
  // and the oldest one can still be put back
  await restore(owner);
  t.like((await signInByCode(account, owner)).user, { email: owner });
});
