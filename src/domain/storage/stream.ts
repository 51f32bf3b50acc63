/** Streams `storage-<storage id>`. */
export const storageCategory = 'storage';
