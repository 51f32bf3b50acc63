import test from 'ava';
import type { ExecutionContext } from 'ava';
import {
  answered,
  loginByPasskey,
  provePasskey,
  registerPasskey,
  sessionOf,
} from '../../../support/clients/passkey-calls.js';
import { asObject, textOf } from '../../../support/clients/service-client.js';
import { totpCode } from '../../../support/fakes/authenticator-app.js';
import { makeSoftwareAuthenticator } from '../../../support/fakes/software-authenticator.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { password, startTestService } from '../../../support/servers/http-service.js';

const minuteMs = 60_000;

/** Given an account whose first factor is a passkey, with the session that added it. */
async function givenPasskey(t: ExecutionContext) {
  const unlimited = { limit: 1_000, seconds: 1 };
  const service = await startTestService(t, { rates: { two_factor: unlimited, login: unlimited } });
  const first = await service.signUp('ada');
  const device = makeSoftwareAuthenticator();
  const added = await registerPasskey(service, device, first);
  t.is(added.status, 201, added.text);
  const codes = answered(added)['recovery_codes'] as readonly string[];
  const signIn = async () =>
    sessionOf(await service.post('/api/v1/auth/login', { email: 'ada@example.com', password }));
  const verify = (session: { authorization: string }, recovery_code: string) =>
    service.post('/api/v1/auth/2fa/verify', { recovery_code }, session);
  const addTotp = async (session: { authorization: string }) => {
    const secret = textOf(answered(await service.post('/api/v1/auth/2fa/totp', {}, session)), 'secret');
    const code = () => totpCode(secret, service.clock.now());
    const confirmed = await service.post('/api/v1/auth/2fa/totp/confirm', { code: code() }, session);
    t.is(confirmed.status, 200, confirmed.text);
    return { code, codes: answered(confirmed)['recovery_codes'] };
  };
  return {
    ...service,
    first,
    device,
    codes,
    passkeyId: textOf(answered(added), 'id'),
    signIn,
    verify,
    addTotp,
  };
}

test('The first factor of any kind brings recovery codes, and a later one brings none', async (t) => {
  const account = await givenPasskey(t);
  t.is(new Set(account.codes).size, 10);
  // Given a session that has proved the passkey
  const strong = sessionOf(await loginByPasskey(account, account.device));
  // When it adds TOTP and another passkey, then there are no new codes
  t.is((await account.addTotp(strong)).codes, null);
  const another = await registerPasskey(account, makeSoftwareAuthenticator(), strong);
  t.is(answered(another)['recovery_codes'], null);
  // and the first ones pass
  t.is((await account.verify(await account.signIn(), account.codes[0] ?? '')).status, 200);
});

test('A recovery code passes the strongest factor of an account with a passkey alone, once', async (t) => {
  const { post, get, grantRole, codes, signIn, verify } = await givenPasskey(t);
  await grantRole('operator', 'ada');
  const session = await signIn();
  const nodes = '/api/v1/admin/nodes';
  t.is((await get(nodes, session)).status, 403);
  t.is((await post('/api/v1/auth/passkey-options', {}, session)).status, 403);
  // When the session passes a recovery code
  const [code = ''] = codes;
  const passed = await verify(session, code);
  t.is(passed.status, 200, passed.text);
  const strong = sessionOf(passed);
  // Then it has passed the passkey
  t.is((await get(nodes, strong)).status, 200);
  t.is((await post('/api/v1/auth/passkey-options', {}, strong)).status, 200);
  const { items } = answered(await get('/api/v1/auth/sessions', strong));
  const current = (items as readonly unknown[]).map(asObject).find((one) => one['current'] === true);
  t.deepEqual(current?.['methods'], ['pwd', 'recovery']);
  // and the code is used up
  t.is((await verify(await signIn(), code)).status, 401);
  // and a code of an app is none of this account
  t.is((await post('/api/v1/auth/2fa/verify', { code: '123456' }, session)).status, 409);
});

test('A passkey within 15 minutes stands for the code in the bodies of removing TOTP and replacing recovery codes', async (t) => {
  const account = await givenPasskey(t);
  const { post, clock, device, codes, verify, signIn } = account;
  const first = sessionOf(await loginByPasskey(account, device));
  await account.addTotp(first);
  const replaced = await post('/api/v1/auth/2fa/recovery-codes', {}, first);
  t.is(replaced.status, 200, replaced.text);
  const fresh = answered(replaced)['recovery_codes'] as readonly string[];
  t.is(new Set([...fresh, ...codes]).size, 20);
  t.is((await verify(await signIn(), codes[1] ?? '')).status, 401);
  // A wrong code beside the passkey is wrong
  t.is((await post('/api/v1/auth/2fa/totp/remove', { code: '000000' }, first)).status, 401);
  // A code alone does not do: the passkey is stronger
  clock.advance(16 * minuteMs);
  const byPassword = await signIn();
  const tried = await post('/api/v1/auth/2fa/totp/remove', { recovery_code: fresh[0] }, byPassword);
  t.is(tried.status, 403);
  t.is((await provePasskey(account, device, byPassword)).status, 204);
  t.is((await post('/api/v1/auth/2fa/totp/remove', {}, byPassword)).status, 204);
  t.is((await post('/api/v1/auth/2fa/totp/remove', {}, byPassword)).status, 409);
});

test('Without a passkey, removing TOTP and replacing recovery codes need a code in the body', async (t) => {
  const service = await startTestService(t);
  const session = await service.signUp('ada');
  await service.passTwoFactor(session);
  for (const path of ['totp/remove', 'recovery-codes']) {
    const answer = await service.post(`/api/v1/auth/2fa/${path}`, {}, session);
    t.is(answer.status, 400, answer.text);
    t.regex(answer.text, /code is missing/);
  }
});

test('Recovery codes live while any factor is left', async (t) => {
  const account = await givenPasskey(t);
  const { ask, post, device, codes, verify, signIn, passkeyId } = account;
  const strong = sessionOf(await loginByPasskey(account, device));
  const { code } = await account.addTotp(strong);
  // When the passkey goes, then TOTP is left, and the codes are
  const removed = await ask(`/api/v1/auth/passkeys/${passkeyId}`, { method: 'DELETE', headers: strong });
  t.is(removed.status, 204);
  t.is((await verify(await signIn(), codes[0] ?? '')).status, 200);
  // When the last factor goes, then the codes do
  account.clock.advance(minuteMs);
  t.is((await post('/api/v1/auth/2fa/totp/remove', { code: code() }, strong)).status, 204);
  t.is((await verify(await signIn(), codes[1] ?? '')).status, 409);
  // and the next first factor brings others
  const again = await registerPasskey(account, makeSoftwareAuthenticator(), await signIn());
  const fresh = answered(again)['recovery_codes'] as readonly string[];
  t.is(new Set([...fresh, ...codes]).size, 20);
});

test('A refusal names the ways that the account has, and no others', async (t) => {
  const account = await givenPasskey(t);
  const { post, codes, device, signIn, first } = account;
  const why = async (session: { authorization: string }) => {
    const answer = await post('/api/v1/auth/passkey-options', {}, session);
    t.is(answer.status, 403);
    return textOf(asObject(answer.json), 'message');
  };
  t.is(
    await why(first),
    'the session has not passed the second factor; prove your passkey by POST /auth/reauthenticate, or a recovery code by POST /auth/2fa/verify',
  );
  const strong = sessionOf(await loginByPasskey(account, device));
  const { code } = await account.addTotp(strong);
  account.clock.advance(minuteMs);
  // With TOTP too, a code of it does not do
  const weak = await signIn();
  t.is((await post('/api/v1/auth/2fa/verify', { code: code() }, weak)).status, 200);
  t.is(
    await why(weak),
    'the session has not passed the strongest second factor of the account; prove your passkey by POST /auth/reauthenticate, or a recovery code by POST /auth/2fa/verify',
  );
  // Without recovery codes only the passkey is left
  for (const recovery_code of codes) {
    t.is((await post('/api/v1/auth/2fa/verify', { recovery_code }, strong)).status, 200);
  }
  const last = await signIn();
  t.is(
    await why(last),
    'the session has not passed the strongest second factor of the account; prove your passkey by POST /auth/reauthenticate',
  );
});

test('An operator removes all factors of an account, its recovery codes and its sessions', async (t) => {
  const account = await givenPasskey(t);
  const { commands, device, codes, verify, signIn, post, get } = account;
  const old = sessionOf(await loginByPasskey(account, device));
  await account.addTotp(old);
  const context = (id: number) => givenContext(id, account.clock.now(), 'operator');
  t.true((await commands.resetSecondFactor('ada@example.com', context(6_000))).changed);
  t.is((await loginByPasskey(account, device)).status, 401);
  // A thief may hold a session that has passed a factor
  t.is((await get('/api/v1/auth/me', old)).status, 401);
  const session = await signIn();
  t.like(answered(await get('/api/v1/auth/me', session)), { two_factor_enabled: false });
  t.is((await verify(session, codes[0] ?? '')).status, 409);
  // and the account adds a first factor as a new one does
  t.is((await post('/api/v1/auth/passkey-options', {}, session)).status, 200);
  // and a repetition ends no session
  t.false((await commands.resetSecondFactor('ada@example.com', context(6_001))).changed);
  t.is((await get('/api/v1/auth/me', session)).status, 200);
});

test('A proof counts only for factors that the account had at its time', async (t) => {
  const account = await givenPasskey(t);
  const { ask, post, get, clock, device, verify, signIn, passkeyId, codes } = account;
  await account.grantRole('operator', 'ada');
  const nodes = async (session: { authorization: string }) =>
    (await get('/api/v1/admin/nodes', session)).status;
  const remove = (id: string, session: { authorization: string }) =>
    ask(`/api/v1/auth/passkeys/${id}`, { method: 'DELETE', headers: session });
  // Given a thief who has the passkey of the account, and a session of it
  const thief = sessionOf(await loginByPasskey(account, device));
  t.is(await nodes(thief), 200);
  // When the owner adds another passkey and TOTP, then proofs by the first passkey still count
  clock.advance(minuteMs);
  const owner = sessionOf(await verify(await signIn(), codes[0] ?? ''));
  const own = makeSoftwareAuthenticator();
  t.is((await registerPasskey(account, own, owner)).status, 201);
  const app = await account.addTotp(owner);
  t.deepEqual([await nodes(thief), await nodes(owner)], [200, 200]);
  // When the owner removes the stolen passkey, then the proof by it does not count for the other
  t.is((await remove(passkeyId, owner)).status, 204);
  t.is(await nodes(thief), 403);
  t.is((await get('/api/v1/auth/sessions', thief)).status, 403);
  // and a session that proves the other carries on
  t.is((await provePasskey(account, own, owner)).status, 204);
  t.is(await nodes(owner), 200);
  // When TOTP is replaced without a passkey, then earlier proofs do not count for the new one
  const others = answered(await get('/api/v1/auth/passkeys', owner))['items'] as readonly unknown[];
  const byApp = await signIn();
  clock.advance(minuteMs);
  t.is((await post('/api/v1/auth/2fa/verify', { code: app.code() }, byApp)).status, 200);
  for (const one of others) t.is((await remove(textOf(asObject(one), 'id'), owner)).status, 204);
  t.is(await nodes(byApp), 200);
  clock.advance(minuteMs);
  t.is((await post('/api/v1/auth/2fa/totp/remove', { code: app.code() }, owner)).status, 204);
  clock.advance(minuteMs);
  const again = await signIn();
  await account.addTotp(again);
  // except that of the session that confirms it
  t.deepEqual([await nodes(byApp), await nodes(again)], [403, 200]);
});
