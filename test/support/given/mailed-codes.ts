import { loginCodeAggregate } from '../../../src/areas/accounts/domain/login-code/login-code.js';
import { newestIssue } from '../examples/login-code.js';
import type { TestService } from '../servers/http-service.js';

type Service = Pick<TestService, 'commands' | 'stores'>;

/** Returns the code of six digits that was mailed last to an address, to sign in. */
export async function mailedCode({ commands, stores }: Service, email = 'ada@example.com'): Promise<string> {
  await commands.background.settled();
  const email_digest = stores.digests.email(email);
  const { state } = await stores.handler.load(loginCodeAggregate, email_digest);
  // A code of 100 bits is none of six digits, and is valid for longer.
  const issue = newestIssue({ ...state, strong: [] });
  if (issue === null) throw new Error('no code was issued');
  return commands.loginCodes.codeFor({ kid: issue.code_key_id, issue_id: issue.issue_id, email_digest });
}
