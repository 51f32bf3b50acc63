import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Socket, connect } from 'node:net';

/** How the prober asks each node: by a connection, or by `GET` of a path. The host is the address of the node. */
export type NodeProbe =
  | { readonly scheme: 'tcp'; readonly port: number }
  | { readonly scheme: 'http' | 'https'; readonly port: number; readonly path: string };

/** The sentence for a text that `parseProbeTarget` refuses. */
export const probeTargetForms =
  'must be tcp:<port>, http:<port>/<path> or https:<port>/<path>, for example tcp:443';

/** Parses `NODE_PROBER` (src/areas/nodes/README.md#prober). Returns null for a text of another form, or a port outside 1 to 65535. */
export function parseProbeTarget(text: string): NodeProbe | null {
  // A path is what Node sends as it is: visible characters of ASCII, and no fragment (RFC 9112, 3.2.1).
  const [, scheme, digits, path] = /^(tcp|https?):(\d{1,5})(\/[!"$-~]*)?$/.exec(text) ?? [];
  const port = Number(digits);
  if (!(port >= 1 && port <= 65_535)) return null;
  if (scheme === 'tcp') return path === undefined ? { scheme, port } : null;
  if (scheme !== 'http' && scheme !== 'https') return null;
  return path === undefined ? null : { scheme, port, path };
}

/**
 * Asks a node at an address once. Resolves with whether it has answered as it should, after its connection has closed. An
 * abort is a failure. Never rejects.
 */
export type Probe = (address: string, signal: AbortSignal) => Promise<boolean>;

/** The time from the first packet to the verdict. */
export const probeMs = 3_000;

/**
 * Makes the probe. `tcp`: the node accepts a connection. `http` and `https`: the reply to `GET` has a status from 200 to 399.
 * It follows no redirect, reads no body, and checks no certificate: nodes have addresses and no names, and the probe sends
 * no secret and believes nothing but the status (src/areas/nodes/README.md#prober).
 */
export function makeProbe(target: NodeProbe, { timeMs = probeMs }: { readonly timeMs?: number } = {}): Probe {
  return (address, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve(false);
        return;
      }
      let isOk = false;
      const probing = open(target, address, (ok) => {
        isOk = ok;
        probing.destroy();
      });
      const end = (): void => {
        probing.destroy();
      };
      const timer = setTimeout(end, timeMs);
      signal.addEventListener('abort', end, { once: true });
      // The close that follows tells the failure.
      probing.on('error', () => undefined);
      probing.once('close', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve(isOk);
      });
    });
}

/** Connects to the node. `onVerdict` is called at most once, and never before the function returns. */
function open(target: NodeProbe, host: string, onVerdict: (ok: boolean) => void): Socket | ClientRequest {
  const { scheme, port } = target;
  if (scheme === 'tcp') {
    return connect({ host, port }, () => {
      onVerdict(true);
    });
  }
  const options = {
    host,
    port,
    path: target.path,
    agent: false,
    headers: { 'user-agent': 'Stowage-Prober' },
  };
  const request =
    scheme === 'https' ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
  request.once('response', ({ statusCode = 0 }) => {
    onVerdict(statusCode >= 200 && statusCode < 400);
  });
  return request.end();
}
