import { namedObject } from '../../../../validation/fields.js';
import { z } from 'zod';
import type { AssetDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { assetAggregate, type ExistingAsset, existingAsset } from '../../domain/asset/asset.js';
import { rejectAsset } from '../../domain/asset/rejections.js';
import type { Rendition } from '../../domain/asset/events.js';
import { checkLanguage, originalKind } from '../../domain/asset/renditions.js';
import { invalid } from '../../../../validation/field-problems.js';
import { wholeKey } from '../../../storages/domain/bucket/bucket.js';
import type { AssetAddress } from '../change-asset.js';
import type { OpenAssetStorage } from '../add-asset.js';
import type { Capacity } from '../capacity.js';

/** A request that uploads one file of an asset. */
export const uploadUrl = namedObject('Upload', {
  url: z.string(),
  method: z.literal('PUT'),
  headers: z
    .record(z.string(), z.string())
    .describe('To be sent exactly so: they are signed. Browsers set content-length themselves.'),
  expires_at: z.iso.datetime({ precision: 3 }),
});

const lifeSeconds = 15 * 60;
/** Bytes that S3, OSS and COS accept in one request: 5 GiB. */
const uploadSizeMax = 5 * 2 ** 30;

/**
 * Signs an upload of the asset's own file, or of a rendition, with its type and size. It is refused while the assets of
 * the project's payer, this one included, exceed the payer's capacity (src/areas/assets/README.md#capacity). After a URL for the own
 * file, the service asks the bucket whether the file arrived (src/areas/assets/README.md#uploads).
 * @throws CommandRejected asset_not_found, asset_storage_unusable, invalid_request, upload_too_large,
 * capacity_exceeded
 */
export function makeIssueUploadUrl(
  deps: AssetDeps & {
    readonly capacity: Pick<Capacity, 'refuseUploadBeyond'>;
    readonly openAssetStorage: OpenAssetStorage;
  },
) {
  const { clock, handler, openAssetStorage, capacity } = deps;
  return async (
    input: AssetAddress & {
      /** The kind of a rendition; undefined: the asset's own file. */
      readonly rendition: string | undefined;
      /** Of subtitles; undefined where the asset has only one rendition of the kind. */
      readonly language?: string | undefined;
    },
    context: CommandContext,
  ): Promise<z.output<typeof uploadUrl>> => {
    const { projectId, assetId, rendition, language } = input;
    const { state } = await handler.load(assetAggregate, assetId);
    const asset = existingAsset(state, projectId);
    const { object_key, headers } = uploadOf(asset, rendition ?? originalKind, language);
    const { storage, urls } = await openAssetStorage(asset);
    await capacity.refuseUploadBeyond(projectId);
    if ((rendition ?? originalKind) === originalKind) {
      const expect = { type: 'ExpectUpload', projectId, now: clock.now() } as const;
      await handler.handle(assetAggregate.at(assetId), expect, context);
    }
    const signedAt = new Date(Math.floor(clock.now().getTime() / 1_000) * 1_000);
    const key = wholeKey(storage.configuration.base_path, object_key);
    return {
      url: urls.uploadUrl({ key, headers, signedAt, expiresInSeconds: lifeSeconds }),
      method: 'PUT',
      headers: { ...headers },
      expires_at: new Date(signedAt.getTime() + lifeSeconds * 1_000).toISOString(),
    };
  };
}

function uploadOf(asset: ExistingAsset, kind: string, language: string | undefined) {
  const file = kind === originalKind ? asset : renditionOf(asset, kind, language);
  const { object_key, media_type, size } = file;
  if (size > uploadSizeMax) {
    const instead =
      file === asset ? 'upload the file in parts (uploads)' : 'upload the rendition by other means';
    rejectAsset('upload_too_large', `one request stores 5 GiB at most; ${instead}`);
  }
  return { object_key, headers: { 'content-type': media_type, 'content-length': String(size) } };
}

function renditionOf({ renditions }: ExistingAsset, kind: string, language: string | undefined): Rendition {
  const wanted = language === undefined ? undefined : checkLanguage(kind, language);
  const [found, ...others] = renditions.filter(
    (one) => one.kind === kind && (wanted === undefined || one.language === wanted),
  );
  if (found === undefined) return invalid('rendition', 'names no rendition of the asset', 'not_allowed');
  return others.length === 0
    ? found
    : invalid('language', 'is missing: the asset has several such renditions', 'missing');
}
