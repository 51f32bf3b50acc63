import type { Aggregate, Evolving } from '../../../../event-sourcing/deciding/decider.js';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import { type AccessSet, noAccesses } from './access-set.js';
import { shareCodec, type ShareEvent, shareCategory } from './events.js';
import type { PasswordClass } from './password.js';
import { rejectShare, type ShareEnding, shareNotFound } from './rejections.js';
import { applyEvent, chosenAssets, newShare, remainingUses, type ShareFields } from './fold.js';
import { changedTerms, type ShareTerms, storedTerms } from './terms.js';

export type ShareState =
  | { readonly status: 'absent' }
  | OpenShare
  | ({ readonly status: 'revoked' } & Pick<OpenShare, 'projectId' | 'tokenDigest'>);

export interface OpenShare extends ShareFields {
  readonly status: 'open';
  readonly projectId: string;
  /** The chosen assets in order; none for a share of a tag. */
  readonly assetIds: readonly string[];
  /** Null for a share of chosen assets. */
  readonly tag: string | null;
  readonly token: Sealed;
  readonly tokenDigest: string;
  /** Null: the share opens without a password. */
  readonly passwordHash: Sealed | null;
  readonly passwordClass: PasswordClass;
  /** Null: an API key created the share. */
  readonly createdBy: string | null;
  /** The counted accesses; at most `maxUsesMax`. */
  readonly usedBy: AccessSet;
  /** The store's recorded time of the last ShareVerificationThrottled. */
  readonly throttledAt: Date | null;
  /** The store's recorded time of the last ShareGuessingLimitReached. */
  readonly guessedAt: Date | null;
}

export type ShareCommand =
  | ({
      readonly type: 'Create';
      readonly projectId: string;
      /** At most `sharedAssetsMax`; none for a share of a tag. */
      readonly assetIds: readonly string[];
      readonly tag: string | null;
      readonly token: Sealed;
      readonly tokenDigest: string;
      readonly passwordHash: Sealed | null;
      readonly passwordClass: PasswordClass;
      readonly createdBy: string | null;
    } & ShareTerms)
  /** Omitted fields stay unchanged. */
  | {
      readonly type: 'Change';
      /** The caller's project. */
      readonly projectId: string;
      readonly changes: Partial<ShareTerms>;
      /** A null hash: the share opens without a password from then on. */
      readonly password?: { readonly hash: Sealed | null; readonly passwordClass: PasswordClass } | undefined;
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
export const shareGuessedEveryMs = 86_400_000;

const initialState: ShareState = { status: 'absent' };

function evolve(state: ShareState, event: Evolving<ShareEvent>): ShareState {
  if (event.type === 'ShareCreated') {
    const { data } = event;
    return {
      status: 'open',
      projectId: data.project_id,
      assetIds: chosenAssets(data),
      tag: data.tag,
      token: data.token,
      tokenDigest: data.token_digest,
      passwordHash: data.password_hash,
      passwordClass: data.password_class,
      createdBy: data.created_by,
      ...newShare(data),
      usedBy: noAccesses,
      throttledAt: null,
      guessedAt: null,
    };
  }
  if (state.status !== 'open') return state;
  if (event.type === 'ShareRevoked') {
    return { status: 'revoked', projectId: state.projectId, tokenDigest: state.tokenDigest };
  }
  return { ...state, ...applyEvent(state, event), ...changeOf(state, event) };
}

function changeOf(
  { usedBy }: OpenShare,
  event: Exclude<Evolving<ShareEvent>, { type: 'ShareCreated' | 'ShareRevoked' }>,
): Partial<OpenShare> {
  switch (event.type) {
    case 'SharePasswordChanged':
      return { passwordHash: event.data.password_hash, passwordClass: event.data.password_class };
    case 'ShareUsed':
      return { usedBy: usedBy.with(event.data.access_id) };
    case 'ShareVerificationThrottled':
      return { throttledAt: event.recordedAt };
    case 'ShareGuessingLimitReached':
      return { guessedAt: event.recordedAt };
    case 'ShareChanged':
      return {};
  }
}

function decide(command: ShareCommand, state: ShareState): readonly ShareEvent[] {
  switch (command.type) {
    case 'Create':
      return create(command, state);
    case 'Change':
      return change(command, openShare(state, command.projectId));
    case 'Use':
      return use(command, state);
    case 'RecordThrottled': {
      if (state.status !== 'open') return [];
      const lastMs = state.throttledAt?.getTime() ?? -Infinity;
      if (command.now.getTime() - lastMs < throttledEveryMs) return [];
      return [{ type: 'ShareVerificationThrottled', data: { failures: command.failures } }];
    }
    case 'RecordGuessing': {
      if (state.status !== 'open') return [];
      const lastMs = state.guessedAt?.getTime() ?? -Infinity;
      if (command.now.getTime() - lastMs < shareGuessedEveryMs) return [];
      return [{ type: 'ShareGuessingLimitReached', data: {} }];
    }
    case 'Revoke':
      openShare(state, command.projectId);
      return [{ type: 'ShareRevoked', data: {} }];
    case 'RevokeOrphaned':
      if (state.status === 'revoked') return [];
      open(state);
      return [{ type: 'ShareRevoked', data: {} }];
  }
}

function create(
  command: Extract<ShareCommand, { type: 'Create' }>,
  state: ShareState,
): readonly ShareEvent[] {
  // The id derives from the command, so an earlier attempt made the existing share.
  if (state.status !== 'absent') return [];
  const [first = null, ...others] = command.assetIds;
  return [
    {
      type: 'ShareCreated',
      data: {
        project_id: command.projectId,
        asset_id: first,
        more_asset_ids: others,
        tag: command.tag,
        token: command.token,
        token_digest: command.tokenDigest,
        password_hash: command.passwordHash,
        password_class: command.passwordClass,
        ...storedTerms(command),
        created_by: command.createdBy,
      },
    },
  ];
}

function change(
  { changes, password }: Extract<ShareCommand, { type: 'Change' }>,
  share: OpenShare,
): readonly ShareEvent[] {
  const after = changedTerms(share, changes);
  const terms: readonly ShareEvent[] = after === null ? [] : [{ type: 'ShareChanged', data: after }];
  // The same sealed text is a repetition, because no two sealings or hashings yield the same text.
  if (password === undefined || password.hash === share.passwordHash) return terms;
  const { hash: password_hash, passwordClass: password_class } = password;
  return [...terms, { type: 'SharePasswordChanged', data: { password_hash, password_class } }];
}

function use(
  { accessId, passwordGeneration, now }: Extract<ShareCommand, { type: 'Use' }>,
  state: ShareState,
): readonly ShareEvent[] {
  const share = open(state);
  // A repetition, because the access's id derives from the command.
  if (share.usedBy.has(accessId)) return [];
  if (!isUsable(share, now)) shareNotFound();
  if (share.password_generation !== passwordGeneration) {
    rejectShare('share_password_changed', 'the password has been changed meanwhile');
  }
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
  return isUsable(share, now) || (share.usedBy.has(accessId) && !isExpired(share, now));
}

export function isExpired({ expires_at }: OpenShare, now: Date): boolean {
  return expires_at !== null && now >= new Date(expires_at);
}

/** Returns the earlier of a time and the end of the share. */
export function untilEnd({ expires_at }: OpenShare, time: Date): Date {
  return expires_at === null || time < new Date(expires_at) ? time : new Date(expires_at);
}

/** A share that opens with a password only. */
export type ProtectedShare = OpenShare & { readonly passwordHash: Sealed };

export function isProtected(share: OpenShare): share is ProtectedShare {
  return share.passwordHash !== null;
}

/** Returns the project's share. @throws CommandRejected share_not_found, also for a share of another project */
export function openShare(state: ShareState, projectId: string): OpenShare {
  return state.status === 'open' && state.projectId === projectId ? state : shareNotFound();
}

function open(state: ShareState): OpenShare {
  return state.status === 'open' ? state : shareNotFound();
}

export const shareAggregate: Aggregate<ShareState, ShareCommand, ShareEvent> = {
  category: shareCategory,
  codec: shareCodec,
  decider: { initialState, decide, evolve },
};
