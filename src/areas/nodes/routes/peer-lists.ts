import { namedObject } from '../../../validation/fields.js';
import {
  type ListedNodes,
  type NodeReader,
  presentPeer,
} from '../../../../projections/nodes/peer-nodes/reader.js';
import type { Clock } from '../../../kit/time/clock.js';
import { ownBytes } from '../../../kit/lru.js';
import { type PreparedBody, contentTag, weakTag } from '../../../http/replies/reply.js';
import type { NodeDeps } from '../deps.js';
import type { NodeCommands } from '../commands/nodes.js';
import { z } from 'zod';
import { nodeResource } from '../../../../projections/nodes/peer-nodes/resource.js';
import { type Route, empty, finished, json, routesOf } from '../../../http/route.js';

const peerQuery = z.object({
  node_id: z
    .string()
    .toLowerCase()
    .describe(
      'The asking node, which is left out. When absent, nodes with the address that the request comes from are left out.',
    )
    .optional(),
});

const errorCharactersMax = 500;

const nodeCheckReport = namedObject('NodeCheckReport', {
  ok: z.boolean().describe('Whether the node answered as it should.'),
  latency_ms: z.number().min(0).optional().describe('The time of the check.'),
  error: z
    .string()
    .refine(
      (text) => Array.from(text).length <= errorCharactersMax,
      `must have at most ${errorCharactersMax} characters`,
    )
    .meta({ description: 'Why the check failed, for people.', maxLength: errorCharactersMax })
    .optional(),
});

export const nodeParams = z.object({ nodeId: z.uuid().toLowerCase() });

/**
 * Makes the routes of edge agents (src/areas/nodes/README.md#peer-nodes, src/areas/nodes/README.md#node-checks,
 * docs/api.md#43-get-apiv1internalpeer-list).
 */
export function makeNodeRoutes({
  reportNodeCheck,
  ...deps
}: NodeCommands & Pick<NodeDeps, 'nodes'> & { readonly clock: Clock }): readonly Route[] {
  const peerLists = makePeerLists(deps);
  const route = routesOf({ tag: 'Nodes' });
  return [
    route('listPeers', 'GET /api/v1/internal/peer-list', {
      summary: 'Peer nodes, except the caller',
      request: { query: peerQuery },
      replies: { 200: json('The nodes.', z.strictObject({ items: z.array(nodeResource) })) },
      entityTag: true,
      handler: async ({ query: { node_id: nodeId }, client }) => ({
        status: 200,
        prepared: await peerLists(nodeId === undefined ? { address: client } : { nodeId }),
      }),
    }),
    route('reportNodeCheck', 'POST /api/v1/internal/nodes/:nodeId/checks', {
      summary: 'Report the result of a health check of a node',
      description:
        'Three failures in a row make a node `unhealthy`, two successes make it `healthy`, and a failure makes a healthy ' +
        'node `degraded`. A node without a report for a minute is `unknown`. A repetition of a report counts again.',
      request: { params: nodeParams, body: nodeCheckReport },
      replies: { 204: empty('The result is counted.') },
      limit: { name: 'node_checks', counts: [204], by: 'nodeId' },
      handler: ({ params: { nodeId }, body: { ok }, command }) =>
        finished(reportNodeCheck({ nodeId, ok }, command)),
    }),
  ];
}

type ListedNode = ListedNodes[number];
type Checks = Awaited<ReturnType<NodeReader['checks']>>;
type Check = Checks['byNode'] extends ReadonlyMap<string, infer Value> ? Value : never;

/** The nodes between two changes of one of them. */
interface Edition {
  readonly nodes: ListedNodes;
  /** The tag of all that the entity tag covers: everything but the counters and `last_checked_at`. */
  readonly tag: string;
  readonly byId: ReadonlyMap<string, readonly number[]>;
  readonly byAddress: ReadonlyMap<string, readonly number[]>;
  /** The tags of the lists, by the positions that they leave out: `none`, or those of `byId` and `byAddress`. */
  readonly tags: Map<readonly number[], string>;
}

/** The whole list as bytes, with the position of each node in it. */
interface Version {
  readonly nodes: ListedNodes;
  readonly checks: number;
  readonly bytes: Buffer;
  /** The start of each node, and the end of the list and a comma after the last one. */
  readonly starts: readonly number[];
}

interface SerialisedNode {
  readonly revision: bigint;
  readonly check: Check | undefined;
  readonly bytes: Buffer;
}

const none: readonly number[] = [];
const [opening, comma, closing] = ['{"items":[', ',', ']}'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];

/** The node that asks for its peers: by its id, or by its address in canonical spelling. */
type PeerOf = { readonly nodeId: string } | { readonly address: string };

/**
 * Makes the function that serves peer lists. It serialises each version of the list once, and a node only when the node or
 * its counters change. The body for a client is made of slices around its node (src/areas/nodes/README.md#peer-nodes).
 */
function makePeerLists(deps: {
  readonly nodes: Pick<NodeReader, 'listed' | 'checks'>;
  readonly clock: Clock;
}): (peerOf: PeerOf) => Promise<PreparedBody> {
  const { nodes, clock } = deps;
  let edition: Edition | null = null;
  let version: Version | null = null;
  let serialised = new Map<string, SerialisedNode>();
  return async (peerOf) => {
    const listed = await nodes.listed(clock);
    const current = edition?.nodes === listed ? edition : openEdition(listed);
    edition = current;
    const leftOut =
      ('nodeId' in peerOf ? current.byId.get(peerOf.nodeId) : current.byAddress.get(peerOf.address)) ?? none;
    return {
      tag: tagOf(current, leftOut),
      // A reply 304 needs no counters, so they are not read for it.
      bytes: async () => without(leftOut, versionOf(listed, await nodes.checks())),
    };
  };

  function versionOf(documents: ListedNodes, checks: Checks): Version {
    if (version?.nodes === documents && version.checks === checks.version) return version;
    const next = new Map<string, SerialisedNode>();
    const parts: Buffer[] = [];
    const starts: number[] = [];
    let at = 0;
    for (const document of documents) {
      const check = checks.byNode.get(document.id);
      const node = sameAs(serialised.get(document.id), document, check) ?? serialise(document, check);
      next.set(document.id, node);
      parts.push(node.bytes, comma);
      starts.push(at);
      at += node.bytes.length + comma.length;
    }
    starts.push(at);
    serialised = next;
    version = { nodes: documents, checks: checks.version, bytes: Buffer.concat(parts), starts };
    return version;
  }
}

function tagOf({ tag, tags }: Edition, leftOut: readonly number[]): string {
  const known = tags.get(leftOut);
  if (known !== undefined) return known;
  const made = weakTag(`${tag} ${leftOut.join(' ')}`);
  tags.set(leftOut, made);
  return made;
}

function sameAs(
  known: SerialisedNode | undefined,
  { revision }: ListedNode,
  check: Check | undefined,
): SerialisedNode | undefined {
  const isSame = known?.revision === revision && known.check?.sequence === check?.sequence;
  return isSame ? known : undefined;
}

function serialise(document: ListedNode, check: Check | undefined): SerialisedNode {
  const bytes = ownBytes(Buffer.from(JSON.stringify(presentPeer(document, check))));
  return { revision: document.revision, check, bytes };
}

/** Returns the list without the nodes at some positions. */
function without(leftOut: readonly number[], { bytes, starts }: Version): Buffer {
  const slices: Buffer[] = [];
  let from = 0;
  for (const position of [...leftOut, starts.length - 1]) {
    const end = starts[position] ?? 0;
    if (end > from) slices.push(bytes.subarray(from, end));
    from = starts[position + 1] ?? end;
  }
  const last = slices.pop()?.subarray(0, -comma.length) ?? Buffer.alloc(0);
  return Buffer.concat([opening, ...slices, last, closing]);
}

function openEdition(nodes: ListedNodes): Edition {
  const covered = nodes.map((document) => presentPeer(document, undefined));
  return {
    nodes,
    tag: contentTag(JSON.stringify(covered)),
    byId: positionsBy(covered.map(({ id }) => id)),
    byAddress: positionsBy(covered.map(({ ip_address: address }) => address)),
    tags: new Map(),
  };
}

function positionsBy(names: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const positions = new Map<string, number[]>();
  for (const [position, name] of names.entries()) {
    const known = positions.get(name);
    if (known === undefined) positions.set(name, [position]);
    else known.push(position);
  }
  return positions;
}
