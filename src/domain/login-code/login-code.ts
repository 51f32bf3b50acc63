import type { Aggregate, Evolving } from '../../event-sourcing/decider.js';
import type { Sealed } from '../../event-sourcing/sealed.js';
import type { MailOutcome } from '../fields.js';
import { loginCodeCodec, type LoginCodeEvent } from './events.js';
import { rejectLoginCode } from './rejections.js';
import { loginCodeCategory } from './stream.js';

export interface LoginCodeState {
  /** The newest code; null before the first. */
  readonly issue: LoginCodeIssue | null;
  /** When codes were issued, by the store's recorded time: the last few, oldest first. */
  readonly issuedAt: readonly Date[];
}

export interface LoginCodeIssue {
  readonly issueId: string;
  readonly userId: string;
  readonly codeKeyId: string;
  readonly expiresAt: Date;
  readonly attemptsFailed: number;
  readonly used: boolean;
  /** Accepted or refused, it is not mailed again. */
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
  | { readonly type: 'MarkMailed'; readonly issueId: string; readonly outcome: MailOutcome }
  | {
      readonly type: 'Use';
      readonly issueId: string;
      /** Whether the code is the one of that issue. A wrong one is counted by the same append that tells it was wrong. */
      readonly matches: boolean;
      readonly now: Date;
    };

/** DESIGN 4.1: codes of one address, at most so many in so many milliseconds; further requests change nothing. */
export const addressLimits = [
  { limit: 1, withinMs: 60_000 },
  { limit: 6, withinMs: 3_600_000 },
] as const;

/** DESIGN 4.1: tries of one code. */
export const attemptsMax = 5;

const initialState: LoginCodeState = { issue: null, issuedAt: [] };
const rememberedMax = Math.max(...addressLimits.map(({ limit }) => limit));

function evolve(state: LoginCodeState, event: Evolving<LoginCodeEvent>): LoginCodeState {
  switch (event.type) {
    case 'LoginCodeIssued': {
      const { issue_id: issueId, user_id: userId, code_key_id: codeKeyId, expires_at } = event.data;
      const issue = { issueId, userId, codeKeyId, expiresAt: new Date(expires_at) };
      return {
        issue: { ...issue, attemptsFailed: 0, used: false, mailed: false },
        issuedAt: [...state.issuedAt, event.recordedAt].slice(-rememberedMax),
      };
    }
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

/** A later code has replaced the one that an event of an older one speaks of. */
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
      // Repeated: the issue's id is made from the command.
      if (issue?.issueId === command.issueId || isOverLimit(state, command.now)) return [];
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
    case 'MarkMailed':
      if (issue?.issueId !== command.issueId || issue.mailed) return [];
      return [{ type: 'LoginCodeMailed', data: { issue_id: command.issueId, outcome: command.outcome } }];
    case 'Use':
      if (issue?.issueId !== command.issueId || !isOpen(issue, command.now)) {
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

function isOverLimit({ issuedAt }: LoginCodeState, now: Date): boolean {
  return addressLimits.some(
    ({ limit, withinMs }) =>
      issuedAt.filter((time) => now.getTime() - time.getTime() < withinMs).length >= limit,
  );
}

/** Whether a code may still be tried. */
export function isOpen({ used, attemptsFailed, expiresAt }: LoginCodeIssue, now: Date): boolean {
  return !used && attemptsFailed < attemptsMax && now < expiresAt;
}

export const loginCodeAggregate: Aggregate<LoginCodeState, LoginCodeCommand, LoginCodeEvent> = {
  category: loginCodeCategory,
  codec: loginCodeCodec,
  followsStoreTime: true,
  decider: { initialState, decide, evolve },
};
