/** Streams `session-<session id>`. */
export const sessionCategory = 'session';
