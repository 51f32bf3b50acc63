import type { ShareDeps } from '../deps.js';
import { definedOf } from '../../../validation/fields.js';
import { Overloaded } from '../../../kit/semaphore.js';
import {
  type HandleOptions,
  loadOfNew,
  derivedId,
} from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../event-sourcing/ports/domain-event.js';
import { RemovedSince } from '../../../event-sourcing/ports/errors.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { digestShareToken, makeShareToken } from '../../../keys/codes/mac-tokens.js';
import { guessing } from '../../../security/guessing/guessing.js';
import { assetAggregate, existingAsset } from '../../assets/domain/asset/asset.js';
import { checkTag } from '../../assets/domain/asset/changes.js';
import { projectAggregate } from '../../projects/domain/project/project.js';
import { TooManyAttempts, whenKeyDestroyed } from '../../shared/rejections.js';
import type { ShareResource } from '../../../../projections/shares/shares/resource.js';
import { framesMax, type NewShare, sharedAssetsMax, type ShareTerms } from '../domain/share/events.js';
import { checkSharePassword, passwordClassOf } from '../domain/share/password.js';
import { rejectShare, shareNotFound } from '../domain/share/rejections.js';
import { openShare, shareAggregate } from '../domain/share/share.js';
import {
  checkFraming,
  checkShareEnd,
  checkSharedAssets,
  checkShareNote,
  checkShareTitle,
  defaultTerms,
  shareLives,
  shareNoteMax,
  shareTitleMax,
} from '../domain/share/terms.js';

export type ShareAddress = { readonly projectId: string; readonly shareId: string };

/** The terms of a share as its maker gives them: title and note in clear. */
type GivenTerms = Omit<ShareTerms, 'title' | 'note'> & {
  readonly title: string | null;
  readonly note: string | null;
};

/** A new share, of chosen assets or of a tag. `created_by` is null for an API key. */
export type CreateShareInput = Pick<ShareAddress, 'projectId'> &
  Pick<NewShare, 'asset_ids' | 'tag' | 'created_by'> &
  GivenTerms & {
    /** Null: the share opens without a password. */
    readonly password: string | null;
  };

interface ChangeShareInput extends ShareAddress {
  /** What is left out does not change. `password: null`: the share opens without a password from then on. */
  readonly changes: Partial<GivenTerms & Pick<CreateShareInput, 'password'>>;
}

/** What requests may contain, and what they leave out. Lives are in ms. */
export const shareLimits = { framesMax, sharedAssetsMax, shareLives, shareNoteMax, shareTitleMax } as const;
export { defaultTerms };

/**
 * The rules of single fields, which name no field: the schema of the request judges by them, and no other place.
 * @throws CommandRejected invalid_request
 */
export const shareRules = {
  assets: checkSharedAssets,
  password: (text: string) => checkSharePassword(text, ''),
  passwordField: (text: string) => checkSharePassword(text),
  title: checkShareTitle,
  note: checkShareNote,
  framing: checkFraming,
  tag: (text: string) => checkTag(text, ''),
  end: checkShareEnd,
} as const;

type Options = Pick<HandleOptions, 'expectedRevision'>;

/** Makes the use cases of members for shares (src/areas/shares/README.md#rules-of-a-share). */
export function makeSharing(deps: ShareDeps) {
  const { handler, sealer, digests, randomBytes, sharePasswords, shares } = deps;
  return {
    /**
     * Shares chosen assets, or those that have a tag when the share is opened. A repeated command returns the share of the first one.
     * @throws CommandRejected asset_not_found, invalid_request, open_shares_off; RemovedSince; TooManyAttempts
     */
    createShare: async (
      { projectId, password, title, note, ...given }: CreateShareInput,
      context: CommandContext,
    ): Promise<Versioned<ShareResource>> => {
      checkShareEnd(given.expires_at, context.time);
      const assets = await Promise.all(given.asset_ids.map((id) => handler.load(assetAggregate, id)));
      for (const { state } of assets) existingAsset(state, projectId);
      if (password === null) await requireOpenShares(projectId);
      const address = { projectId, shareId: derivedId(context, 'share') };
      const token = makeShareToken(randomBytes);
      const seal = sealing(address, removedSince);
      const hashed = await hashedPassword(projectId, password, seal);
      const share: NewShare = {
        ...given,
        ...hashed,
        project_id: projectId,
        token: await seal('token', token),
        token_digest: digestShareToken(digests, token),
        title: title === null ? null : await seal('title', title),
        note: note === null ? null : await seal('note', note),
      };
      const create = { type: 'Create', share } as const;
      const target = shareAggregate.at(address.shareId);
      const { documents } = await handler.handle(target, create, context, loadOfNew(context));
      return (await shares.after(documents)) ?? removedSince();
    },
    /**
     * Changes a share. A new password, or none, ends the sessions of the old one.
     * @throws CommandRejected share_not_found, invalid_request, open_shares_off; PreconditionFailed; TooManyAttempts
     */
    changeShare: async (
      { projectId, shareId, changes: { password, title, note, ...terms } }: ChangeShareInput,
      context: CommandContext,
      options: Options = {},
    ): Promise<Versioned<ShareResource>> => {
      const address = { projectId, shareId };
      const seal = sealing(address, shareNotFound);
      // A share of another project is rejected before the password is hashed and sealed.
      const present = openShare((await handler.load(shareAggregate, shareId)).state, projectId);
      if (terms.expires_at !== undefined) checkShareEnd(terms.expires_at, context.time);
      const texts = { title: await sealedAgain('title', title), note: await sealedAgain('note', note) };
      const changes = { ...terms, ...definedOf(texts) };
      if (password === null) await requireOpenShares(projectId);
      const hashed =
        password === undefined
          ? undefined
          : await hashedPassword(projectId, password === null ? null : checkSharePassword(password), seal);
      const change = { type: 'Change', projectId, changes, password: hashed } as const;
      const revoking = { ...options, revokesAccess: hashed !== undefined };
      const { documents } = await handler.handle(shareAggregate.at(shareId), change, context, revoking);
      return (await shares.after(documents)) ?? shareNotFound();

      /** Returns the present sealed text where the text does not change, so that no event follows. */
      async function sealedAgain(field: 'title' | 'note', text: string | null | undefined) {
        if (text === null || text === undefined) return text;
        const sealed = present[field];
        const scope = { kind: 'share', ...address } as const;
        if (sealed !== null && (await sealer.open(scope, field, sealed)) === text) return sealed;
        return seal(field, text);
      }
    },
    /** Revokes a share and ends its sessions. @throws CommandRejected share_not_found; PreconditionFailed */
    revokeShare: async ({ projectId, shareId }: ShareAddress, context: CommandContext, options?: Options) => {
      const revoke = { type: 'Revoke', projectId } as const;
      await handler.handle(shareAggregate.at(shareId), revoke, context, { ...options, revokesAccess: true });
    },
  };

  /** Refuses a share without a password where the project does not allow it. @throws CommandRejected open_shares_off */
  async function requireOpenShares(projectId: string): Promise<void> {
    const { state } = await handler.load(projectAggregate, projectId);
    if (state.status === 'existing' && state.open_shares) return;
    rejectShare(
      'open_shares_off',
      'the project allows no shares without a password; choose a password, or let an owner change the project setting open_shares',
    );
  }

  /** Hashes and seals a password. Null: the share opens without one. */
  async function hashedPassword(
    projectId: string,
    password: string | null,
    seal: ReturnType<typeof sealing>,
  ): Promise<Pick<NewShare, 'password_hash' | 'password_class'>> {
    if (password === null) return { password_hash: null, password_class: passwordClassOf('') };
    // A new password is hashed in the turn of its project.
    const by = { ip: '', known: { id: projectId, of: projectId } };
    const hash = await refuseWhenFull(() => sharePasswords.hash(password, by));
    const password_hash = await seal('password_hash', hash);
    return { password_hash, password_class: passwordClassOf(password) };
  }

  /** Makes what seals for a share. @param gone rejects the command once the key of the share is destroyed */
  function sealing(address: ShareAddress, gone: () => never) {
    return async (field: 'token' | 'password_hash' | 'title' | 'note', text: string): Promise<Sealed> =>
      sealer.seal({ kind: 'share', ...address }, field, text).catch(whenKeyDestroyed(gone));
  }
}

function removedSince(): never {
  throw new RemovedSince();
}

/** Makes a full queue of share passwords 429, not 503 (src/security/README.md#passwords). @throws TooManyAttempts */
export async function refuseWhenFull<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    throw new TooManyAttempts(
      guessing.sharePassword.pool.retryAfterSeconds,
      'too many passwords are being checked; wait and try again',
    );
  }
}
