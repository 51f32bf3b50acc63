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
