import type { Aggregate, Evolving } from '../../event-sourcing/deciding/decider.js';
import type { Sealed } from '../../event-sourcing/ports/sealed.js';
import type { MailOutcome } from '../fields.js';
import { mailedCode, mailedCodeLimits } from '../mailed-code.js';
import { loginCodeCodec, type LoginCodeEvent, loginCodeCategory } from './events.js';
import { rejectLoginCode } from './rejections.js';

export interface LoginCodeState {
  /** The newest code; null before the first. */
  readonly issue: LoginCodeIssue | null;
  /** The store's recorded times of the last codes, issued or withheld, oldest first. */
  readonly requestedAt: readonly Date[];
}

export interface LoginCodeIssue {
  readonly issueId: string;
  readonly userId: string;
  readonly codeKeyId: string;
  readonly expiresAt: Date;
  readonly attemptsFailed: number;
  readonly used: boolean;
  /** Whether the mail server accepted or refused the mail. In both cases it is not sent again. */
  readonly mailed: boolean;
}

export type LoginCodeCommand =
  | {
      readonly type: 'Issue';
      readonly issueId: string;
      readonly userId: string;
      readonly email: Sealed;
      readonly codeKeyId: string;
      readonly expiresAt: Date;
      readonly now: Date;
    }
  /** The address has no account. */
  | { readonly type: 'Withhold'; readonly now: Date }
  | { readonly type: 'MarkMailed'; readonly issueId: string; readonly outcome: MailOutcome }
  | {
      readonly type: 'Use';
      readonly issueId: string;
      /** Whether the code is right. The append that refuses a wrong code also counts it. */
      readonly matches: boolean;
      readonly now: Date;
    };

const initialState: LoginCodeState = { issue: null, requestedAt: [] };

function evolve(state: LoginCodeState, event: Evolving<LoginCodeEvent>): LoginCodeState {
  switch (event.type) {
    case 'LoginCodeIssued': {
      const { issue_id: issueId, user_id: userId, code_key_id: codeKeyId, expires_at } = event.data;
      const issue = { issueId, userId, codeKeyId, expiresAt: new Date(expires_at) };
      return {
        issue: { ...issue, attemptsFailed: 0, used: false, mailed: false },
        requestedAt: requestedAfter(state, event.recordedAt),
      };
    }
    case 'LoginCodeWithheld':
      return { ...state, requestedAt: requestedAfter(state, event.recordedAt) };
    case 'LoginCodeMailed':
      return withIssue(state, event.data.issue_id, () => ({ mailed: true }));
    case 'LoginCodeAttemptFailed':
      return withIssue(state, event.data.issue_id, ({ attemptsFailed }) => ({
        attemptsFailed: attemptsFailed + 1,
      }));
    case 'LoginCodeUsed':
      return withIssue(state, event.data.issue_id, () => ({ used: true }));
  }
}

function requestedAfter({ requestedAt }: LoginCodeState, at: Date): readonly Date[] {
  return [...requestedAt, at].slice(-mailedCode.codesPerHour);
}

/** Changes the newest code. An event of an older code changes nothing. */
function withIssue(
  state: LoginCodeState,
  issueId: string,
  change: (issue: LoginCodeIssue) => Partial<LoginCodeIssue>,
): LoginCodeState {
  if (state.issue?.issueId !== issueId) return state;
  return { ...state, issue: { ...state.issue, ...change(state.issue) } };
}

function decide(command: LoginCodeCommand, state: LoginCodeState): readonly LoginCodeEvent[] {
  const { issue } = state;
  switch (command.type) {
    case 'Issue':
      return issueCode(command, state);
    case 'Withhold':
      return isOverLimit(state, command.now) ? [] : [{ type: 'LoginCodeWithheld', data: {} }];
    case 'MarkMailed':
      if (issue?.issueId !== command.issueId || issue.mailed) return [];
      return [{ type: 'LoginCodeMailed', data: { issue_id: command.issueId, outcome: command.outcome } }];
    case 'Use':
      if (issue?.issueId !== command.issueId || !isIssueOpen(issue, command.now)) {
        return rejectLoginCode('login_code_refused', 'the code is wrong or not valid any more');
      }
      return [
        {
          type: command.matches ? 'LoginCodeUsed' : 'LoginCodeAttemptFailed',
          data: { issue_id: command.issueId },
        },
      ];
  }
}

function issueCode(
  command: Extract<LoginCodeCommand, { type: 'Issue' }>,
  state: LoginCodeState,
): readonly LoginCodeEvent[] {
  // A repetition, because the issue's id derives from the command; or a request beyond the limits.
  if (state.issue?.issueId === command.issueId || isOverLimit(state, command.now)) return [];
  return [
    {
      type: 'LoginCodeIssued',
      data: {
        issue_id: command.issueId,
        user_id: command.userId,
        email: command.email,
        code_key_id: command.codeKeyId,
        expires_at: command.expiresAt.toISOString(),
      },
    },
  ];
}

function isOverLimit({ requestedAt }: LoginCodeState, now: Date): boolean {
  return mailedCodeLimits.some(
    ({ limit, withinMs }) =>
      requestedAt.filter((time) => now.getTime() - time.getTime() < withinMs).length >= limit,
  );
}

/** Returns whether the code accepts further attempts. */
export function isIssueOpen({ used, attemptsFailed, expiresAt }: LoginCodeIssue, now: Date): boolean {
  return !used && attemptsFailed < mailedCode.attemptsMax && now < expiresAt;
}

export const loginCodeAggregate: Aggregate<LoginCodeState, LoginCodeCommand, LoginCodeEvent> = {
  category: loginCodeCategory,
  codec: loginCodeCodec,
  decider: { initialState, decide, evolve },
};
