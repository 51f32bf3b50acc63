import type { Command } from 'commander';
import { z } from 'zod';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';
import {
  changeRequest,
  type OperatorInput,
  type OperatorReply,
  type OperatorRequest,
  readRequest,
} from '../../operating/socket/client.js';
import { done, operateWith, sayOf, send, parseInteger } from '../operate.js';
import type { Ask } from '../operator.js';

interface NodeOptions {
  readonly name?: string;
  readonly address?: string;
  readonly type?: string;
  readonly weight?: number;
  readonly loadBalancing?: boolean;
  readonly dnsRecord?: string;
  /** False: none. */
  readonly capacityHint?: number | false;
  readonly note?: string;
}

const modes = [
  ['drain', 'draining', 'show a node as draining: it ends its work'],
  ['maintain', 'maintenance', 'show a node as in maintenance'],
  ['resume', 'in_service', 'show what the checks of a node find, again'],
] as const;

const path = '/api/v1/admin/nodes';

/** Adds the commands on peer nodes: docs/agents.md#nodes. */
export function addNodeCommands(program: Command): void {
  const node = program.command('node').description('peer nodes');
  node
    .command('add')
    .description('register a node')
    .requiredOption('--name <name>')
    .requiredOption('--address <address>', 'IPv4 or IPv6 address')
    .option('--type <type>', 'normal or high_defense', 'normal')
    .option('--weight <number>', 'share of the load, 0 to 100', parseInteger, 100)
    .option('--no-load-balancing', 'leave the node out of load balancing')
    .option('--dns-record <id>', 'the node’s record at the DNS provider', '')
    .option('--capacity-hint <number>', 'how much it can take, in a unit of your choice', parseInteger)
    .option('--note <text>', '', '')
    .action((options: NodeOptions) => send('node add', changeRequest(path, toChanges(options))));
  node
    .command('list')
    .description('all nodes')
    .action(() => operateWith(listAll, sayOf('node list')));
  node
    .command('change <nodeId>')
    .description('change the given fields of a node')
    .option('--name <name>')
    .option('--address <address>', 'IPv4 or IPv6 address')
    .option('--type <type>', 'normal or high_defense')
    .option('--weight <number>', 'share of the load, 0 to 100', parseInteger)
    .option('--load-balancing', 'put the node into load balancing')
    .option('--no-load-balancing', 'leave the node out of load balancing')
    .option('--dns-record <id>', 'the node’s record at the DNS provider')
    .option('--capacity-hint <number>', 'how much it can take, in a unit of your choice', parseInteger)
    .option('--no-capacity-hint', 'remove the hint')
    .option('--note <text>')
    .action((nodeId: string, options: NodeOptions) => send('node change', patch(nodeId, toChanges(options))));
  node
    .command('remove <nodeId>')
    .description('remove a node from every peer list; it cannot be undone')
    .action((nodeId: string) => operateWith((ask) => remove(nodeId, ask), sayOf('node remove')));
  for (const [name, mode, description] of modes) {
    node
      .command(`${name} <nodeId>`)
      .description(description)
      .action((nodeId: string) => send('node change', patch(nodeId, { mode })));
  }
}

const page = z.looseObject({ items: z.array(z.json()), next_cursor: z.string().nullable() });

/** Reads page after page. */
async function listAll(ask: Ask): Promise<OperatorReply> {
  const items: JsonValue[] = [];
  for (let cursor: string | undefined; ;) {
    const reply = await ask(readRequest(path, { limit: 200, cursor }));
    if (!reply.ok) return reply;
    const read: z.output<typeof page> = page.parse(reply.result);
    items.push(...read.items);
    if (read.next_cursor === null) return done({ items });
    cursor = read.next_cursor;
  }
}

async function remove(nodeId: string, ask: Ask): Promise<OperatorReply> {
  const reply = await ask({ method: 'DELETE', path: pathOf(nodeId) });
  return reply.ok ? done({ node_id: nodeId }) : reply;
}

function patch(nodeId: string, body: OperatorInput): OperatorRequest {
  return { method: 'PATCH', path: pathOf(nodeId), body };
}

function pathOf(nodeId: string): string {
  return `${path}/${encodeURIComponent(nodeId)}`;
}

/** Returns the fields whose options are given. */
function toChanges(options: NodeOptions): Readonly<Record<string, string | number | boolean | null>> {
  const fields = {
    name: options.name,
    ip_address: options.address,
    node_type: options.type,
    lb_weight: options.weight,
    lb_enabled: options.loadBalancing,
    dnsprovider_record_id: options.dnsRecord,
    max_capacity_hint: options.capacityHint === false ? null : options.capacityHint,
    note: options.note,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
