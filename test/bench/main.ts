import { benchAppends } from './appends.js';
import { benchAudit } from './audit.js';
import { benchCatchUp } from './catch-up.js';
import { benchCatchUpOnServers } from './catch-up-servers.js';
import { benchEventStoreDbAppends } from './eventstoredb-appends.js';
import { benchFaults } from './faults.js';
import { benchHostile } from './hostile.js';
import { benchHttp } from './http.js';
import { benchLogins } from './logins.js';
import { benchManyAssets } from './many-assets.js';
import type { Comparison } from './measure.js';
import { benchOverload } from './overload.js';
import { benchPeerLists } from './peer-lists.js';
import { benchPayments } from './payments.js';
import { benchPeers } from './peers/peers.js';
import { benchPresigning } from './presigning.js';
import { benchServers } from './servers.js';
import { writeReport } from './report.js';
import { benchStart } from './start.js';

const benches: Readonly<Record<string, () => Promise<readonly Comparison[]>>> = {
  peers: benchPeers,
  appends: benchAppends,
  'eventstoredb-appends': benchEventStoreDbAppends,
  http: benchHttp,
  'peer-lists': benchPeerLists,
  payments: benchPayments,
  logins: benchLogins,
  hostile: benchHostile,
  overload: benchOverload,
  faults: benchFaults,
  'many-assets': benchManyAssets,
  'catch-up': benchCatchUp,
  start: benchStart,
  presigning: benchPresigning,
  audit: benchAudit,
  servers: benchServers,
  'catch-up-servers': benchCatchUpOnServers,
};

// Only a complete run writes the report. Named benches only print their figures.
const named = process.argv.slice(2);
const comparisons: Comparison[] = [];
for (const [name, bench] of Object.entries(benches)) {
  if (named.length === 0 || named.includes(name)) comparisons.push(...(await bench()));
}
if (named.length === 0) writeReport(comparisons);
