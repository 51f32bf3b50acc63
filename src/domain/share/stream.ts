/** Streams `share-<share id>`. */
export const shareCategory = 'share';
