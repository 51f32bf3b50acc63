import type { ShareDeps } from '../deps.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { loadOfNew } from '../../../event-sourcing/deciding/command-handler.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import type { Sealed } from '../../../event-sourcing/ports/sealed.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { assetAggregate, existingAsset } from '../../assets/domain/asset/asset.js';
import { checkTag } from '../../assets/domain/asset/tags.js';
import { checkEach, invalid } from '../../../validation/invalid-request.js';
import { frameAncestorsMax, sharedAssetsMax } from '../domain/share/events.js';
import { checkSharePassword, passwordClassOf } from '../domain/share/password.js';
import { shareNotFound } from '../domain/share/rejections.js';
import { shareAggregate } from '../domain/share/share.js';
import {
  checkFrameAncestors,
  frameAncestor,
  checkShareEnd,
  checkShareNote,
  checkShareTitle,
  shareLives,
  shareNoteMax,
  shareTitleMax,
} from '../domain/share/terms.js';
import { digestShareToken, makeShareToken } from '../../../keys/codes/share-tokens.js';
import type { ShareResource } from '../../../../projections/shares/shares/reader.js';
import { refuseWhenFull, sharerOf } from './refuse-when-full.js';
import type { RequireOpenShares } from './require-open-shares.js';
import { sealForShare, type ShareField } from './share-data.js';

export interface CreateShareInput extends NewShare {
  readonly projectId: string;
  /** Null: unlimited. */
  readonly maxUses: number | null;
  readonly allowDownload: boolean;
  readonly notifySharer: boolean;
  readonly showSender: boolean;
  /** The user who creates it; null for an API key. */
  readonly createdBy: string | null;
}

/** The fields with rules beyond their shape. */
export interface NewShare {
  /** In the order in which visitors see them; none for a share of a tag. */
  readonly assetIds: readonly string[];
  /** The share is of the assets that have the tag when it is opened; null for a share of chosen assets. */
  readonly tag: string | null;
  /** Null: the share opens without a password. */
  readonly password: string | null;
  /** Null: never. */
  readonly expiresAt: Date | null;
  /** Null or blank: none. */
  readonly title: string | null;
  readonly note: string | null;
  readonly frameAncestors: readonly string[];
}

/**
 * Shares chosen assets, or those that have a tag when the share is opened (src/areas/shares/README.md#rules-of-a-share). A repeated command returns the share of the first one.
 * @throws CommandRejected asset_not_found, invalid_request, open_shares_off; share_not_found where it is revoked since;
 * TooManyAttempts
 */
export type CreateShare = (
  input: CreateShareInput,
  context: CommandContext,
) => Promise<Versioned<ShareResource>>;

/** The limits of the terms of a share. Lives are in ms. */
export const shareLimits = {
  frameAncestorsMax,
  sharedAssetsMax,
  shareLives,
  shareNoteMax,
  shareTitleMax,
} as const;

/** The rules of single fields, which name no field. @throws CommandRejected invalid_request */
export const shareRules = {
  password: (text: string) => checkSharePassword(text, ''),
  passwordField: (text: string) => checkSharePassword(text),
  title: (text: string) => checkShareTitle(text, ''),
  note: (text: string) => checkShareNote(text, ''),
  frameAncestor: (text: string) => frameAncestor(text, ''),
  tag: (text: string) => checkTag(text, ''),
} as const;

/** Checks what needs no store. @throws CommandRejected invalid_request */
export function checkNewShare(input: NewShare, now: Date): NewShare {
  const { shared, ...terms } = checkEach({
    shared: () => checkShared(input),
    password: () => (input.password === null ? null : checkSharePassword(input.password)),
    expiresAt: () => checkShareEnd(input.expiresAt, now),
    title: () => checkShareTitle(input.title),
    note: () => checkShareNote(input.note),
    frameAncestors: () => checkFrameAncestors(input.frameAncestors),
  });
  return { ...shared, ...terms };
}

function checkShared({ assetIds, tag }: NewShare): Pick<NewShare, 'assetIds' | 'tag'> {
  if (tag === null) return { assetIds: checkSharedAssets(assetIds), tag };
  if (assetIds.length > 0)
    invalid('tag', 'takes the place of asset_id and asset_ids: leave one of them out', 'not_allowed');
  return { assetIds, tag: checkTag(tag, 'tag') };
}

function checkSharedAssets(assetIds: readonly string[]): readonly string[] {
  if (assetIds.length === 0 || assetIds.length > sharedAssetsMax) {
    invalid(
      'asset_ids',
      `must have 1 to ${sharedAssetsMax} entries`,
      assetIds.length === 0 ? 'too_short' : 'too_long',
    );
  }
  if (new Set(assetIds).size < assetIds.length) invalid('asset_ids', 'must be distinct', 'repeated');
  return assetIds;
}

export function makeCreateShare({
  handler,
  sealer,
  digests,
  randomBytes,
  sharePasswords,
  shares,
  requireOpenShares,
}: Pick<ShareDeps, 'handler' | 'sealer' | 'digests' | 'randomBytes' | 'sharePasswords' | 'shares'> & {
  readonly requireOpenShares: RequireOpenShares;
}): CreateShare {
  return async (input, context) => {
    const { projectId, maxUses, allowDownload, notifySharer, showSender, createdBy } = input;
    const checked = checkNewShare(input, context.time);
    const { assetIds, tag, password, expiresAt, title, note, frameAncestors } = checked;
    const assets = await Promise.all(assetIds.map((id) => handler.load(assetAggregate, id)));
    for (const { state } of assets) existingAsset(state, projectId);
    if (password === null) await requireOpenShares(projectId);
    const shareId = derivedId(context, 'share');
    const token = makeShareToken(randomBytes);
    const hash =
      password === null
        ? null
        : await refuseWhenFull(() => sharePasswords.hash(password, sharerOf(projectId)));
    const { documents } = await handler.handle(
      { aggregate: shareAggregate, id: shareId },
      {
        type: 'Create',
        ...{ projectId, assetIds, tag, expiresAt, maxUses, allowDownload, createdBy },
        ...{ frameAncestors, notifySharer, showSender },
        token: await seal('token', token),
        tokenDigest: digestShareToken(digests, token),
        passwordHash: await sealOptional('password_hash', hash),
        passwordClass: passwordClassOf(password ?? ''),
        title: await sealOptional('title', title),
        note: await sealOptional('note', note),
      },
      context,
      loadOfNew(context),
    );
    return (await shares.after(documents)) ?? shareNotFound();

    function seal(field: ShareField['field'], text: string): Promise<Sealed> {
      return sealForShare(sealer, { projectId, shareId, field }, text);
    }

    async function sealOptional(field: ShareField['field'], text: string | null): Promise<Sealed | null> {
      return text === null ? null : seal(field, text);
    }
  };
}
