import type { Aggregate, Evolving } from '../../event-sourcing/decider.js';
import type { Sealed } from '../../event-sourcing/sealed.js';
import { type AccessSet, noAccesses } from './access-set.js';
import { maxUsesMax, shareCodec, type ShareEvent } from './events.js';
import { rejectShare, shareNotFound } from './rejections.js';
import { shareCategory } from './stream.js';

export type ShareState =
  { readonly status: 'absent' } | OpenShare | { readonly status: 'revoked'; readonly projectId: string };

export interface ShareTerms {
  readonly expiresAt: Date | null;
  readonly maxUses: number | null;
  readonly allowDownload: boolean;
}

export interface OpenShare extends ShareTerms {
  readonly status: 'open';
  readonly projectId: string;
  readonly assetId: string;
  readonly token: Sealed;
  readonly tokenDigest: string;
  readonly passwordHash: Sealed;
  /** Counts the passwords; the first is 1. */
  readonly passwordGeneration: number;
  /** The accesses that counted; at most `maxUsesMax`. */
  readonly usedBy: AccessSet;
  /** When slowing down was last told, by the store's recorded time. */
  readonly throttledAt: Date | null;
}

export type ShareCommand =
  | ({
      readonly type: 'Create';
      readonly projectId: string;
      readonly assetId: string;
      readonly token: Sealed;
      readonly tokenDigest: string;
      readonly passwordHash: Sealed;
      readonly createdBy: string | null;
    } & ShareTerms)
  /** What is left out stays as it is. */
  | {
      readonly type: 'Change';
      readonly changes: Partial<ShareTerms>;
      readonly passwordHash?: Sealed | undefined;
    }
  /** Counts a use, if the share still stands as it was checked; decides nothing where uses are not limited. */
  | {
      readonly type: 'Use';
      readonly accessId: string;
      readonly passwordGeneration: number;
      readonly now: Date;
    }
  | { readonly type: 'TellThrottled'; readonly failures: number; readonly now: Date }
  | { readonly type: 'Revoke' };

/** DESIGN 3: at most one `ShareVerificationThrottled` in this time. */
const throttledEveryMs = 3_600_000;

const initialState: ShareState = { status: 'absent' };

function evolve(state: ShareState, event: Evolving<ShareEvent>): ShareState {
  if (event.type === 'ShareCreated') {
    const { data } = event;
    return {
      status: 'open',
      projectId: data.project_id,
      assetId: data.asset_id,
      token: data.token,
      tokenDigest: data.token_digest,
      passwordHash: data.password_hash,
      passwordGeneration: 1,
      usedBy: noAccesses,
      throttledAt: null,
      ...termsOf(data),
    };
  }
  if (state.status !== 'open') return state;
  switch (event.type) {
    case 'ShareChanged':
      return { ...state, ...termsOf(event.data) };
    case 'SharePasswordChanged':
      return {
        ...state,
        passwordHash: event.data.password_hash,
        passwordGeneration: state.passwordGeneration + 1,
      };
    case 'ShareUsed':
      return { ...state, usedBy: state.usedBy.with(event.data.access_id) };
    case 'ShareVerificationThrottled':
      return { ...state, throttledAt: event.recordedAt };
    case 'ShareRevoked':
      return { status: 'revoked', projectId: state.projectId };
  }
}

function termsOf(data: {
  readonly expires_at: string | null;
  readonly max_uses: number | null;
  readonly allow_download: boolean;
}): ShareTerms {
  const expiresAt = data.expires_at === null ? null : new Date(data.expires_at);
  return { expiresAt, maxUses: data.max_uses, allowDownload: data.allow_download };
}

function decide(command: ShareCommand, state: ShareState): readonly ShareEvent[] {
  switch (command.type) {
    case 'Create':
      return create(command, state);
    case 'Change':
      return change(command, open(state));
    case 'Use':
      return use(command, state);
    case 'TellThrottled': {
      if (state.status !== 'open') return [];
      const { throttledAt } = state;
      const told = throttledAt !== null && command.now.getTime() - throttledAt.getTime() < throttledEveryMs;
      return told ? [] : [{ type: 'ShareVerificationThrottled', data: { failures: command.failures } }];
    }
    case 'Revoke':
      if (state.status === 'revoked') return [];
      open(state);
      return [{ type: 'ShareRevoked', data: {} }];
  }
}

function create(
  command: Extract<ShareCommand, { type: 'Create' }>,
  state: ShareState,
): readonly ShareEvent[] {
  // A share's id is made from the command that creates it, so one that exists is what an earlier try has made.
  if (state.status !== 'absent') return [];
  return [
    {
      type: 'ShareCreated',
      data: {
        project_id: command.projectId,
        asset_id: command.assetId,
        token: command.token,
        token_digest: command.tokenDigest,
        password_hash: command.passwordHash,
        ...recordOf(command),
        created_by: command.createdBy,
      },
    },
  ];
}

function change(
  { changes, passwordHash }: Extract<ShareCommand, { type: 'Change' }>,
  share: OpenShare,
): readonly ShareEvent[] {
  const [before, after] = [recordOf(share), recordOf({ ...share, ...changes })];
  const same =
    before.expires_at === after.expires_at &&
    before.max_uses === after.max_uses &&
    before.allow_download === after.allow_download;
  const terms: readonly ShareEvent[] = same ? [] : [{ type: 'ShareChanged', data: after }];
  // The very same sealed text is a repetition: nobody seals or hashes twice alike.
  if (passwordHash === undefined || passwordHash === share.passwordHash) return terms;
  return [...terms, { type: 'SharePasswordChanged', data: { password_hash: passwordHash } }];
}

function use(
  { accessId, passwordGeneration, now }: Extract<ShareCommand, { type: 'Use' }>,
  state: ShareState,
): readonly ShareEvent[] {
  const share = open(state);
  // Repeated: the access's id is made from the command.
  if (share.usedBy.has(accessId)) return [];
  if (!isUsable(share, now)) shareNotFound();
  if (share.passwordGeneration !== passwordGeneration) {
    rejectShare('share_password_changed', 'the password has been changed meanwhile');
  }
  return share.maxUses === null ? [] : [{ type: 'ShareUsed', data: { access_id: accessId } }];
}

/** Whether a share that was not revoked still opens. */
export function isUsable(share: OpenShare, now: Date): boolean {
  return !isExpired(share, now) && remainingUses(share) !== 0;
}

/** The same for an access that may have been counted by an earlier try. */
export function isUsableBy(share: OpenShare, accessId: string, now: Date): boolean {
  return isUsable(share, now) || (share.usedBy.has(accessId) && !isExpired(share, now));
}

export function isExpired({ expiresAt }: OpenShare, now: Date): boolean {
  return expiresAt !== null && now >= expiresAt;
}

/** Null where uses are not limited. */
export function remainingUses({ maxUses, usedBy }: OpenShare): number | null {
  return maxUses === null ? null : Math.max(0, Math.min(maxUses, maxUsesMax) - usedBy.size);
}

function recordOf({ expiresAt, maxUses, allowDownload }: ShareTerms) {
  return {
    expires_at: expiresAt?.toISOString() ?? null,
    max_uses: maxUses,
    allow_download: allowDownload,
  };
}

function open(state: ShareState): OpenShare {
  return state.status === 'open' ? state : shareNotFound();
}

export const shareAggregate: Aggregate<ShareState, ShareCommand, ShareEvent> = {
  category: shareCategory,
  codec: shareCodec,
  followsStoreTime: true,
  decider: { initialState, decide, evolve },
};
