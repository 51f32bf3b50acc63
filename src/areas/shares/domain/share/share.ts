import { isRecent } from '../../../../kit/time/clock.js';
import {
  decideBy,
  defineAggregate,
  type Evolving,
} from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { type NewShare, type ShareEvent, type ShareTerms, shareEvents } from './events.js';
import type { PasswordClass } from './password.js';
import { rejectShare, type ShareEnding, shareNotFound } from './rejections.js';
import { applyEvent, newShare, remainingUses, type ShareFields } from './fold.js';
import { changedTerms } from './terms.js';

type ShareState =
  | { readonly status: 'absent' }
  | OpenShare
  | ({ readonly status: 'revoked' } & Pick<OpenShare, 'project_id' | 'token_digest'>);

export type OpenShare = ShareFields & {
  readonly status: 'open';
  /** Null: the share opens without a password. */
  readonly password_hash: Sealed | null;
  readonly password_class: PasswordClass;
  /** The counted accesses; at most `maxUsesMax`. */
  readonly used_by: AccessSet;
  /** The store's recorded time of the last ShareVerificationThrottled. */
  readonly throttled_at: Date | null;
  /** The store's recorded time of the last ShareGuessingLimitReached. */
  readonly guessed_at: Date | null;
};

export type ShareCommand =
  | { readonly type: 'Create'; readonly share: NewShare }
  /** Omitted fields stay unchanged. */
  | {
      readonly type: 'Change';
      /** The caller's project. */
      readonly projectId: string;
      readonly changes: Partial<ShareTerms>;
      /** A null hash: the share opens without a password from then on. */
      readonly password?: Pick<NewShare, 'password_hash' | 'password_class'> | undefined;
    }
  /** Counts a use, if the share still opens with the checked password. Appends nothing if uses are not limited. */
  | {
      readonly type: 'Use';
      readonly accessId: string;
      readonly passwordGeneration: number;
      readonly now: Date;
    }
  | { readonly type: 'RecordThrottled'; readonly failures: number; readonly now: Date }
  /** Wrong passwords have reached their limit. */
  | { readonly type: 'RecordGuessing'; readonly now: Date }
  /** `projectId`: the caller's project. */
  | { readonly type: 'Revoke'; readonly projectId: string }
  /** A reaction revokes the share of a removed asset or a deleted project. */
  | { readonly type: 'RevokeOrphaned' };

/** At most one `ShareVerificationThrottled` is appended in this time: docs/architecture.md#what-is-not-an-event. */
export const throttledEveryMs = 3_600_000;

/** At most one `ShareGuessingLimitReached` is appended in this time, in ms. */
const shareGuessedEveryMs = 86_400_000;

const initialState: ShareState = { status: 'absent' };

function evolve(state: ShareState, event: Evolving<ShareEvent>): ShareState {
  if (event.type === 'ShareCreated') {
    const { password_hash, password_class } = event.data;
    const password = { password_hash, password_class };
    const unused = { used_by: noAccesses, throttled_at: null, guessed_at: null };
    return { status: 'open', ...newShare(event.data), ...password, ...unused };
  }
  if (state.status !== 'open') return state;
  const after = { ...state, ...applyEvent(state, event) };
  switch (event.type) {
    case 'ShareChanged':
      return after;
    case 'SharePasswordChanged':
      return { ...after, ...event.data };
    case 'ShareUsed':
      return { ...after, used_by: state.used_by.with(event.data.access_id) };
    case 'ShareVerificationThrottled':
      return { ...after, throttled_at: event.recordedAt };
    case 'ShareGuessingLimitReached':
      return { ...after, guessed_at: event.recordedAt };
    case 'ShareRevoked':
      return { status: 'revoked', project_id: state.project_id, token_digest: state.token_digest };
  }
}

const decide = decideBy<ShareCommand, ShareState, ShareEvent>({
  Create: (command, state) => {
    // The id derives from the command, so an earlier attempt made the existing share.
    return state.status === 'absent' ? [{ type: 'ShareCreated', data: command.share }] : [];
  },
  Change: (command, state) => change(command, openShare(state, command.projectId)),
  Use: (command, state) => use(command, state),
  RecordThrottled: ({ failures, now }, state) =>
    state.status === 'open' && mayReportAgain(state.throttled_at, throttledEveryMs, now)
      ? [{ type: 'ShareVerificationThrottled', data: { failures } }]
      : [],
  RecordGuessing: ({ now }, state) =>
    state.status === 'open' && mayReportAgain(state.guessed_at, shareGuessedEveryMs, now)
      ? [{ type: 'ShareGuessingLimitReached', data: {} }]
      : [],
  Revoke: (command, state) => {
    openShare(state, command.projectId);
    return [{ type: 'ShareRevoked', data: {} }];
  },
  RevokeOrphaned: (_, state) => {
    if (state.status === 'revoked') return [];
    open(state);
    return [{ type: 'ShareRevoked', data: {} }];
  },
});

/** Returns whether the time since the last report has passed. */
export function mayReportAgain(last: Date | null, ms: number, now: Date): boolean {
  return last === null || !isRecent(last, ms, now);
}

function change(
  { changes, password }: Extract<ShareCommand, { type: 'Change' }>,
  share: OpenShare,
): readonly ShareEvent[] {
  const after = changedTerms(share, changes);
  const terms: readonly ShareEvent[] = after === null ? [] : [{ type: 'ShareChanged', data: after }];
  // The same sealed text is a repetition, because no two sealings or hashings yield the same text.
  if (password === undefined || password.password_hash === share.password_hash) return terms;
  return [...terms, { type: 'SharePasswordChanged', data: password }];
}

function use(
  { accessId, passwordGeneration, now }: Extract<ShareCommand, { type: 'Use' }>,
  state: ShareState,
): readonly ShareEvent[] {
  const share = open(state);
  // A repetition, because the access's id derives from the command.
  if (share.used_by.has(accessId)) return [];
  if (!isUsable(share, now)) shareNotFound();
  if (share.password_generation !== passwordGeneration)
    rejectShare('share_password_changed', 'the password has been changed meanwhile');
  return share.max_uses === null ? [] : [{ type: 'ShareUsed', data: { access_id: accessId } }];
}

/** Returns why a share opens no more; null where it does, or never did. */
export function endingOf(share: ShareState, now: Date): ShareEnding | null {
  if (share.status === 'absent') return null;
  if (share.status === 'revoked') return 'withdrawn';
  if (isExpired(share, now)) return 'expired';
  return remainingUses(share) === 0 ? 'used_up' : null;
}

/** Returns whether the share is neither expired nor used up. */
export function isUsable(share: OpenShare, now: Date): boolean {
  return endingOf(share, now) === null;
}

/** Returns whether the share is usable by an access, which an earlier attempt may have counted. */
export function isUsableBy(share: OpenShare, accessId: string, now: Date): boolean {
  return isUsable(share, now) || (share.used_by.has(accessId) && !isExpired(share, now));
}

export function isExpired({ expires_at }: OpenShare, now: Date): boolean {
  return expires_at !== null && now >= new Date(expires_at);
}

/** Returns the earlier of a time and the end of the share. */
export function untilEnd({ expires_at }: OpenShare, time: Date): Date {
  return expires_at === null || time < new Date(expires_at) ? time : new Date(expires_at);
}

/** A share that opens with a password only. */
export type ProtectedShare = OpenShare & { readonly password_hash: Sealed };

export function isProtected(share: OpenShare): share is ProtectedShare {
  return share.password_hash !== null;
}

/** Returns the project's share. @throws CommandRejected share_not_found, also for a share of another project */
export function openShare(state: ShareState, projectId: string): OpenShare {
  return state.status === 'open' && state.project_id === projectId ? state : shareNotFound();
}

function open(state: ShareState): OpenShare {
  return state.status === 'open' ? state : shareNotFound();
}

export const shareAggregate = defineAggregate(shareEvents, { initialState, decide, evolve });

/** An immutable set of the ids of accesses. */
interface AccessSet {
  /** All ids, for the measurement of what a fold takes in memory, which cannot look into functions. */
  readonly ids: readonly [settled: ReadonlySet<string>, recent: readonly string[]];
  readonly size: number;
  has(id: string): boolean;
  with(id: string): AccessSet;
}

/** Each addition copies at most this many ids. One in so many additions copies the others. */
const recentMax = 128;

/**
 * The empty set. A share folds up to `maxUsesMax` events one by one; to copy all ids for each event would block the
 * process for seconds. So most ids are in a set that many versions share, and only the latest ids are copied.
 */
export const noAccesses: AccessSet = makeAccessSet(new Set(), []);

function makeAccessSet(settled: ReadonlySet<string>, recent: readonly string[]): AccessSet {
  const set: AccessSet = {
    ids: [settled, recent],
    size: settled.size + recent.length,
    has: (id) => settled.has(id) || recent.includes(id),
    with: (id) => {
      if (set.has(id)) return set;
      return recent.length < recentMax
        ? makeAccessSet(settled, [...recent, id])
        : makeAccessSet(new Set([...settled, ...recent]), [id]);
    },
  };
  return set;
}
