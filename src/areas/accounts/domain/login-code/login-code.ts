import {
  decideBy,
  defineAggregate,
  type Evolving,
} from '../../../../event-sourcing/deciding/command-handler.js';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';
import type { MailOutcome, Requester } from '../../../../validation/fields.js';
import {
  countedCodes,
  mailedCode,
  mailedCodeLimits,
  strongCode,
} from '../../../../security/guessing/mailed-code.js';
import { type LoginCodeEvent, loginCodeEvents } from './events.js';

/** `login_code_refused`: the code does not exist, was replaced, used or tried too often, or has expired. */
export type LoginCodeRejection = 'login_code_refused';

/** The codes of an address. Those of known devices and of all other clients do not depend on each other. */
export interface LoginCodeState {
  readonly known: LoginCodes;
  readonly unknown: LoginCodes;
  /** The codes of 100 bits of the last hour. */
  readonly strong: readonly LoginCodeIssue[];
}

/** The codes that one kind of requester asked for. */
interface LoginCodes {
  /** The newest code of six digits; null before the first. */
  readonly issue: LoginCodeIssue | null;
  /** The store's recorded times of the last codes, issued or withheld, oldest first. */
  readonly requestedAt: readonly Date[];
}

type Issued = Readonly<Extract<LoginCodeEvent, { type: 'LoginCodeIssued' }>['data']>;

export interface LoginCodeIssue extends Issued {
  /** Failed attempts of each kind of requester, because strangers must not use up the owner's. */
  readonly attemptsFailed: Readonly<Record<Requester, number>>;
  readonly used: boolean;
  /** Whether the mail server accepted or refused the mail. In both cases it is not sent again. */
  readonly mailed: boolean;
}

export type LoginCodeCommand =
  /** `expires_at`: the end of a code of six digits. */
  | ({
      readonly type: 'Issue';
      /** Whether a wrong code was tried at the address within a day; false when left out. */
      readonly isGuessedAt?: boolean;
      readonly now: Date;
    } & Omit<Issued, 'strong'>)
  /** The address has no account. */
  | { readonly type: 'Withhold'; readonly requester: Requester; readonly now: Date }
  | { readonly type: 'MarkMailed'; readonly issue_id: string; readonly outcome: MailOutcome }
  /** A typed text is this code of 100 bits. A wrong one appends nothing. */
  | { readonly type: 'UseStrong'; readonly issue_id: string; readonly now: Date }
  | {
      readonly type: 'Use';
      readonly requester: Requester;
      /** The open codes, and whether the typed text is that code. The append that refuses a wrong one also counts it. */
      readonly compared: readonly { readonly issue_id: string; readonly matches: boolean }[];
      readonly now: Date;
    };

const hourMs = 3_600_000;
const noCodes: LoginCodes = { issue: null, requestedAt: [] };
const initialState: LoginCodeState = { known: noCodes, unknown: noCodes, strong: [] };

function evolve(state: LoginCodeState, event: Evolving<LoginCodeEvent>): LoginCodeState {
  switch (event.type) {
    case 'LoginCodeIssued': {
      const { requester } = event.data;
      const untried = { attemptsFailed: { known: 0, unknown: 0 }, used: false, mailed: false };
      const issue = { ...event.data, ...untried };
      if (issue.strong) {
        const strong = state.strong.filter((one) => new Date(one.expires_at) > event.recordedAt);
        return requestedAfter({ ...state, strong: [...strong, issue] }, event);
      }
      const codes = { ...state[requester], issue };
      return requestedAfter({ ...state, [requester]: codes }, event);
    }
    case 'LoginCodeWithheld':
      return requestedAfter(state, event);
    case 'LoginCodeMailed':
      return withIssue(state, event.data.issue_id, () => ({ mailed: true }));
    case 'LoginCodeAttemptFailed': {
      const { requester } = event.data;
      return withIssue(state, event.data.issue_id, ({ attemptsFailed }) => ({
        attemptsFailed: { ...attemptsFailed, [requester]: attemptsFailed[requester] + 1 },
      }));
    }
    case 'LoginCodeUsed':
      return withIssue(state, event.data.issue_id, () => ({ used: true }));
  }
}

function requestedAfter(
  state: LoginCodeState,
  {
    data: { requester },
    recordedAt,
  }: Extract<Evolving<LoginCodeEvent>, { type: 'LoginCodeIssued' | 'LoginCodeWithheld' }>,
): LoginCodeState {
  const codes = state[requester];
  const requestedAt = [...codes.requestedAt, recordedAt].slice(-mailedCode.codesPerHour);
  return { ...state, [requester]: { ...codes, requestedAt } };
}

/** Returns the code with this id; null when it was replaced. */
export function findIssue(state: LoginCodeState, issue_id: string): LoginCodeIssue | null {
  const issues = [state.known.issue, state.unknown.issue, ...state.strong];
  const found = issues.find((issue) => issue?.issue_id === issue_id);
  return found ?? null;
}

/** Changes one of these codes. An event of an older code changes nothing. */
function withIssue(
  state: LoginCodeState,
  issue_id: string,
  change: (issue: LoginCodeIssue) => Partial<LoginCodeIssue>,
): LoginCodeState {
  const issue = findIssue(state, issue_id);
  if (issue === null) return state;
  const changed = { ...issue, ...change(issue) };
  const strong = state.strong.map((one) => (one === issue ? changed : one));
  const codes = state[issue.requester];
  if (codes.issue !== issue) return { ...state, strong };
  return { ...state, [issue.requester]: { ...codes, issue: changed } };
}

const decide = decideBy<LoginCodeCommand, LoginCodeState, LoginCodeEvent>({
  Issue: (command, state) => {
    const { issue_id, user_id, email, code_key_id, requester, now, isGuessedAt = false } = command;
    const codes = state[requester];
    // A repetition, because the issue's id derives from the command; or a request beyond the limits.
    if (findIssue(state, issue_id) !== null || isOverLimit(codes, now)) return [];
    // Strangers end codes of six digits, and use up the mails of an hour. The owner then finds a good code in the mailbox.
    const isLast = requestsWithin(codes, hourMs, now) === mailedCode.codesPerHour - 1;
    const strong = requester === 'unknown' && (isGuessedAt || isLast);
    const strongEnd = new Date(now.getTime() + strongCode.lifeSeconds * 1_000).toISOString();
    const expires_at = strong ? strongEnd : command.expires_at;
    const data = { issue_id, user_id, email, code_key_id, expires_at, strong, requester };
    return [{ type: 'LoginCodeIssued', data }];
  },
  Withhold: ({ requester, now }, state) => {
    if (isOverLimit(state[requester], now)) return [];
    return [{ type: 'LoginCodeWithheld', data: { requester } }];
  },
  MarkMailed: ({ issue_id, outcome }, state) => {
    if (findIssue(state, issue_id)?.mailed !== false) return [];
    return [{ type: 'LoginCodeMailed', data: { issue_id, outcome } }];
  },
  UseStrong: ({ issue_id, now }, state) => {
    if (!openStrong(state, now).some((issue) => issue.issue_id === issue_id)) refuse();
    return [{ type: 'LoginCodeUsed', data: { issue_id } }];
  },
  /** A wrong text counts against every open code that it was compared with, for this kind of requester only. */
  Use: ({ requester, compared, now }, state) => {
    const open = openIssues(state, requester, now);
    const tried = compared.filter(({ issue_id }) => open.some((issue) => issue.issue_id === issue_id));
    if (tried.length === 0) refuse();
    const right = tried.find(({ matches }) => matches);
    if (right !== undefined) return [{ type: 'LoginCodeUsed', data: { issue_id: right.issue_id } }];
    return tried.map(({ issue_id }) => ({ type: 'LoginCodeAttemptFailed', data: { issue_id, requester } }));
  },
});

function isOverLimit(codes: LoginCodes, now: Date): boolean {
  return mailedCodeLimits.some(({ limit, withinMs }) => requestsWithin(codes, withinMs, now) >= limit);
}

function requestsWithin({ requestedAt }: LoginCodes, withinMs: number, now: Date): number {
  return countedCodes(requestedAt, now).filter((time) => now.getTime() - time.getTime() < withinMs).length;
}

/** Returns the codes of 100 bits that sign in. */
export function openStrong({ strong }: LoginCodeState, now: Date): readonly LoginCodeIssue[] {
  return strong.filter(({ used, expires_at }) => !used && now < new Date(expires_at));
}

function refuse(): never {
  throw new CommandRejected<LoginCodeRejection>(
    'login_code_refused',
    'the code is wrong or not valid any more',
  );
}

/**
 * Returns the codes that accept attempts of this kind of requester: the own one first. The other one is also tried,
 * because people ask for a code on one network and type it on another.
 */
export function openIssues(
  { known, unknown }: LoginCodeState,
  requester: Requester,
  now: Date,
): readonly LoginCodeIssue[] {
  const codes = requester === 'known' ? [known, unknown] : [unknown, known];
  return codes.flatMap(({ issue }) => (issue !== null && isIssueOpen(issue, requester, now) ? [issue] : []));
}

/** Returns whether the code accepts further attempts of this kind of requester. */
export function isIssueOpen(
  { used, attemptsFailed, expires_at }: LoginCodeIssue,
  requester: Requester,
  now: Date,
): boolean {
  return !used && attemptsFailed[requester] < mailedCode.attemptsMax && now < new Date(expires_at);
}

export const loginCodeAggregate = defineAggregate(loginCodeEvents, { initialState, decide, evolve });
