import test, { type ExecutionContext } from 'ava';
import { givenAsset, givenShare, nextContext, sharePassword } from '../support/given/given-share.js';
import { makeServiceClient } from '../support/clients/service-client.js';
import { askOperators, operateOn } from '../support/servers/operate-on.js';
import { givenInProcess } from '../support/servers/service-in-process.js';
import { settableClock } from '../support/fakes/settable-clock.js';

const password = 'Correct-Horse-7';
const email = 'ada@example.org';

/** A service with a registered user and a share, whose pepper is then replaced. */
async function given(t: ExecutionContext) {
  const clock = settableClock();
  const service = await givenInProcess(t, { clock });
  const { services, url } = service;
  const client = makeServiceClient(url);
  const ada = await client.register(email, password);
  const place = await givenAsset(services);
  const share = await givenShare(services, place);
  const from = services.keyRings.pepper.active().kid;
  await operateOn(services, 'keys add', { ring: 'pepper' });
  clock.advance(60_000);
  await operateOn(services, 'keys promote', { ring: 'pepper', now: false });
  clock.advance(60_000);
  await services.generations.refresh();
  return {
    ...{ services, client, ada, place, share },
    verify: (tried: string) => client.post(`/api/v1/shares/${share.token}/verify`, { password: tried }),
    login: () => client.post('/api/v1/auth/login', { email, password }),
    /** The reply as the command line prints it. */
    retire: async (force = false) => {
      const reply = await askOperators(services, 'keys retire', { ring: 'pepper', kid: from, force });
      return reply.ok ? 'retired' : `${reply.message} (${reply.code})`;
    },
  };
}

test('A pepper is retired once no password of a user or a share needs it', async (t) => {
  const { services, place, share, verify, login, retire } = await given(t);
  // When it is retired early, then the reply names the passwords that need it
  t.regex(await retire(), /password of 1 user is .*password of 1 share is .*\(still_needed\)$/);
  // When the user signs in, and the share's password is set again
  t.is((await login()).status, 200);
  t.regex(await retire(), new RegExp(`needed: the password of 1 share is .*\\(${share.id} of project`));
  t.is((await verify(sharePassword)).status, 200, 'and it opens as long as it is needed');
  await services.commands.changeShare(
    { projectId: place.projectId, shareId: share.id, changes: { password: 'sesame, open' } },
    nextContext(services),
  );
  // Then the pepper is retired
  t.is(await retire(), 'retired');
  t.is((await login()).status, 200);
  t.is((await verify('sesame, open')).status, 200);
});

test('A pepper that is retired by force leads to the documented replies', async (t) => {
  const { client, ada, verify, login, retire } = await given(t);
  t.is(await retire(true), 'retired');
  for (const tried of [sharePassword, 'a guess']) {
    const reply = await verify(tried);
    t.is(reply.status, 503);
    t.is(reply.headers.get('retry-after'), '60');
    t.like(reply.json(), { code: 'password_not_checkable' });
    t.regex(reply.text, /set a new one/);
  }
  t.is((await login()).status, 401);
  const change = { current_password: password, new_password: 'Better-Horse-8' };
  const changed = await client.post('/api/v1/auth/password', change, ada.headers);
  t.is(changed.status, 503);
  t.like(changed.json(), { code: 'password_not_checkable' });
  t.regex(changed.text, /mailed code/);
});
