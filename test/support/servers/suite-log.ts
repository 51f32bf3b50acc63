import type { ExecutionContext } from 'ava';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { startEventStoreDbServer } from './eventstoredb-server/server.js';
import { openTestStore } from './eventstoredb-server/open-test-store.js';
import { makeTcpProxy, type TcpProxy } from './tcp-proxy.js';

/** A log that the processes of one test share. */
export interface SuiteLog {
  /** `EVENTSTOREDB_URL` and the variables beside it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Opens the log beside the processes. */
  readonly open: () => EventStore;
}

let logs = 0;

/**
 * Starts the log of a test: the server or the cluster of EVENTSTOREDB_URL under a prefix that no other test has, otherwise the
 * fake one in this process. It ends with the test.
 */
export async function startSuiteLog(t: ExecutionContext): Promise<SuiteLog> {
  return logAt(process.env['EVENTSTOREDB_URL'] ?? (await startFake(t)).url);
}

/** One node without TLS, which a proxy can stand before. */
const plainNode = /^(?:esdb|kurrentdb):\/\/(?<host>[^:,/@]+):(?<port>\d+)\/?\?(?:.*&)?tls=false(?:&|$)/i;

/**
 * Starts the log of a test behind a proxy, which can fail. Where EVENTSTOREDB_URL names a cluster or a node with TLS, the log is
 * the fake one, and the test says so.
 */
export async function startProxiedLog(t: ExecutionContext): Promise<SuiteLog & { readonly proxy: TcpProxy }> {
  const given = process.env['EVENTSTOREDB_URL'];
  const node = plainNode.exec(given ?? '')?.groups;
  if (given !== undefined && node === undefined)
    t.log('not on EVENTSTOREDB_URL: no proxy can stand before it');
  const target =
    node === undefined ? await startFake(t) : { host: node['host'] ?? '', port: Number(node['port']) };
  const proxy = await makeTcpProxy({ host: '127.0.0.1', ...target });
  t.teardown(proxy.close);
  return { ...logAt(`esdb://127.0.0.1:${proxy.port}?tls=false`), proxy };
}

async function startFake(t: ExecutionContext): Promise<{ readonly url: string; readonly port: number }> {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  return server;
}

function logAt(url: string): SuiteLog {
  // Other runs may have written to the server.
  const streamPrefix = `test.${process.pid}.${Date.now()}.${(logs += 1)}.`;
  return {
    environment: {
      EVENTSTOREDB_URL: url,
      EVENTSTOREDB_ALLOW_INSECURE: 'true',
      STREAM_PREFIX: streamPrefix,
    },
    open: () => openTestStore(url, { streamPrefix }),
  };
}
