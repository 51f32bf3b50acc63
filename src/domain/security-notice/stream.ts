/** Streams `securitynotice-<id of the event that it is about>`: an outcome leaves the user's own stream, and its ETag, alone. */
export const securityNoticeCategory = 'securitynotice';
