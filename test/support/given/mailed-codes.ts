import { userAggregate } from '../../../src/areas/accounts/domain/user/user.js';
import { loginCodeAggregate } from '../../../src/areas/accounts/domain/login-code/login-code.js';
import { newestIssue } from '../examples/login-code.js';
import type { TestService } from '../servers/http-service.js';

type Service = Pick<TestService, 'commands' | 'stores'>;

interface CodeOfChange {
  readonly commands: Pick<TestService['commands'], 'addressChangeCodes'>;
  readonly stores: Pick<TestService['stores'], 'handler'>;
}

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

/** Returns the code that was mailed to the new address of a user. */
export async function changeCodeOf({ commands, stores }: CodeOfChange, userId: string): Promise<string> {
  const { state } = await stores.handler.load(userAggregate, userId);
  const change = state.status === 'registered' ? state.emailChange : null;
  if (change === null) throw new Error('no change was requested');
  const { change_id: issue_id, code_key_id: kid, email_digest } = change;
  return commands.addressChangeCodes.codeFor({ kid, issue_id, email_digest });
}
