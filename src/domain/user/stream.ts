/** Streams `user-<user id>`. */
export const userCategory = 'user';
