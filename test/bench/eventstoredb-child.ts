import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';

// A node in a separate process, so that it takes no time of the client that is measured. It ends with its parent.
const server = await startEventStoreDbServer();
process.once('disconnect', () => process.exit());
process.send?.(server.url);
