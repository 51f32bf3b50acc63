/** Streams `asset-<asset id>`. */
export const assetCategory = 'asset';
