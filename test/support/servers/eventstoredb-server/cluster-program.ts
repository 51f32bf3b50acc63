import { startCluster } from './cluster.js';

// A cluster of three nodes in memory, for suites that take EVENTSTOREDB_URL: node dist/test/support/servers/eventstoredb-server/cluster-program.js
// prints the line EVENTSTOREDB_URL=… and serves until it is stopped.

const cluster = await startCluster({
  ...{ hosts: ['127.0.0.1', '127.0.0.1', '127.0.0.1'], version: '26.0.3', insideRecord: '26.0' },
});
process.stdout.write(`EVENTSTOREDB_URL=${cluster.url()}\n`);
