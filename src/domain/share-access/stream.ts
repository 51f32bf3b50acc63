/** Streams `shareaccess-<access id>`: one event a stream, so that a busy share is no hot spot. */
export const shareAccessCategory = 'shareaccess';
