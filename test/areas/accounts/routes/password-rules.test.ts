import test from 'ava';
import { describePasswordRules, type ExtraCheck } from '../../../../src/security/passwords/password-rules.js';
import { startTestHttp } from '../../../support/clients/http-app.js';
import { startTestService } from '../../../support/servers/http-service.js';

test('A space counts as a symbol, and a refusal and the document state the rules that apply', async (t) => {
  const sets: readonly (readonly ExtraCheck[])[] = [[], ['common'], ['local-part', 'common']];
  for (const extraChecks of sets) {
    const passwordRules = describePasswordRules(extraChecks);
    const { post, get } = await startTestService(t, { passwordRules, passwords: { extraChecks } });
    const register = (password: string) =>
      post('/api/v1/auth/register', { email: 'adalovelace@example.com', password });
    const refused = await register('Abcdefgh12');
    t.is(refused.status, 400);
    const { message } = refused.json as { message: string };
    t.true(message.includes('password must contain a symbol'), message);
    t.true(message.includes(`(the rules: ${passwordRules})`), message);
    // The description is the same without the routes.
    const { ask } = await startTestHttp(t, { routes: [], passwordRules });
    const { info } = (await ask('/openapi.json')).json as { info: { description: string } };
    t.true(info.description.endsWith(`A new password: ${passwordRules}.`));
    t.is(((await get('/api/v1')).json as { password_rules: string }).password_rules, passwordRules);
    // The extra checks run only where the rules name them
    const isCommon = (await register('Password123!')).status === 400;
    t.is(isCommon, passwordRules.includes('not a common password'));
    const fresh = await register('Abcdefgh1 x');
    t.is(fresh.status, extraChecks.length === 0 ? 409 : 201, fresh.text);
  }
});
