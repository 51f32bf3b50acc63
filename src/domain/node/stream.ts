/** Streams `node-<node id>`. */
export const nodeCategory = 'node';
