import { Command, InvalidArgumentError, Option } from 'commander';
import { readConfig } from '../config.js';
import { version } from '../version.js';
import { addAuditCommands } from './audit-commands.js';
import { addBackupCommands } from './backup-commands.js';
import { exitCodes } from './exit-codes.js';
import { isExplained } from './explained.js';
import { operate, operateWith, printError, printJson, printResult } from './operate.js';
import { rewrapAll } from './rewrap.js';
import { addUserCommands } from './user-commands.js';

/** The command line. It runs nothing before `parseAsync`; docs/operate.md#commands lists its commands. */
export const program = new Command('stowage')
  .description(
    'Stowage, the service and its operators’ commands. Commands find a running service through the socket in DATA_DIR; ' +
      'where none runs they open the stores themselves. Exit codes: 0 done, 1 failed, 2 wrong usage, 75 the service or a ' +
      'store is away, try again.',
  )
  .version(version)
  .option('--json', 'print JSON in place of text, errors too')
  .configureHelp({ showGlobalOptions: true })
  // Errors of usage are thrown, and cli.ts chooses their exit code. Each command below inherits this.
  .exitOverride()
  .hook('preAction', (root) => {
    printJson(root.opts<{ readonly json?: boolean }>().json ?? false);
  });

program
  .command('serve')
  .description('start the service')
  .action(async () => {
    const config = readConfig();
    const { serve } = await import('../main.js');
    process.exitCode = await serve(config).catch((error: unknown) => {
      if (!isExplained(error)) throw error;
      printError(error);
      return exitCodes.failed;
    });
  });

for (const role of ['operator', 'auditor'] as const) {
  const roles = program.command(role).description(`the platform role ${role}`);
  roles
    .command('grant <email>')
    .description(`make the account with this address an ${role}`)
    .action((email: string) => operate('platform-role grant', { email, role }));
  roles
    .command('revoke <email>')
    .description('take the role from the account with this address, at once')
    .action((email: string) => operate('platform-role revoke', { email, role }));
}

addUserCommands(program, parseInteger);

const project = program.command('project').description('projects');
for (const [name, description] of [
  ['grant', 'entitle a project; allow_s3: it may bind storages'],
  ['revoke', 'take back an operator’s grant; a paid order that grants the same still holds'],
] as const) {
  project
    .command(`${name} <projectId> <entitlement>`)
    .description(description)
    .action((projectId: string, entitlement: string) =>
      operate(`project ${name}`, { project_id: projectId, entitlement }),
    );
}

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
  .action((options: NodeOptions) =>
    operate('node add', {
      name: options.name,
      ip_address: options.address,
      node_type: options.type,
      lb_weight: options.weight,
      lb_enabled: options.loadBalancing,
      dnsprovider_record_id: options.dnsRecord,
      max_capacity_hint: options.capacityHint ?? null,
      note: options.note,
    }),
  );
node
  .command('list')
  .description('all nodes')
  .action(() => operate('node list', {}));

const payments = program.command('payments').description('payments that wait for an operator');
for (const [name, description] of [
  ['unmatched', 'callbacks that lead to no order, the longest received first'],
  ['review', 'reports that differ from the order'],
] as const) {
  payments
    .command(name)
    .description(description)
    .option('--limit <number>', 'how many at most', parseInteger, 50)
    .option('--cursor <text>', 'next_cursor of the page before')
    .action((page: { readonly limit: number; readonly cursor?: string }) =>
      operate(`payments ${name}`, { ...page }),
    );
}
payments
  .command('show <id>')
  .description('one payment, its outcome, and the decisions on it with their reasons')
  .action((id: string) => operate('payments show', { id }));
payments
  .command('order <id>')
  .description(
    'an order by its id or number, with its payments, and the decisions on them with their reasons',
  )
  .action((id: string) => operate('payments order', { id }));
payments
  .command('dismiss')
  .description(
    'dismiss unmatched callbacks of other shops that share the account, a hundred at a time; it cannot be undone',
  )
  .requiredOption('--reason <reason>', 'as `payments unmatched` shows it')
  .requiredOption('--received-before <time>', 'only older ones, for example 2026-01-02T00:00:00Z')
  .requiredOption('--note <text>', 'why; kept sealed')
  .option('--provider <provider>', 'of this platform only')
  .option('--after <next>', '`next` of the call before')
  .action((options: DismissOptions) =>
    operate('payments dismiss', {
      reason: options.reason,
      received_before: options.receivedBefore,
      note: options.note,
      after: options.after ?? null,
      ...(options.provider === undefined ? {} : { provider: options.provider }),
    }),
  );
payments
  .command('resolve <id>')
  .description('decide on an item of one of these lists; it cannot be undone')
  .addOption(
    new Option('--action <action>', 'apply: it is the order’s; dismiss: it changes nothing')
      .choices(['apply', 'dismiss'])
      .makeOptionMandatory(),
  )
  .option('--order <orderId>', 'the order that an unmatched one is applied to')
  .requiredOption('--note <text>', 'why; kept sealed')
  .action((id: string, { action, order, note }: ResolveOptions) =>
    operate('payments resolve', { id, action, order_id: order ?? null, note }),
  );

const projection = program.command('projection').description('read models');
projection
  .command('list')
  .description('every view with its generations and how far it is')
  .action(() => operate('projection list', {}));
projection
  .command('rebuild <name>')
  .description('build a view again beside the live one, and switch to it when it has caught up')
  .action((name: string) => operate('projection rebuild', { name }));
projection
  .command('prune')
  .description('drop the views that only other releases use; no process of another release may run')
  .action(() => operate('projection prune', {}));

addBackupCommands(program, printResult);
addAuditCommands(program);

const keys = program.command('keys').description('rotation of keys; docs/keys.md');
keys
  .command('list')
  .description('every ring with the ids of its keys; never a key')
  .action(() => operate('keys list', {}));
keys
  .command('add <ring>')
  .description('add a key that only opens and verifies')
  .action((ring: string) => operate('keys add', { ring }));
keys
  .command('promote <ring> [kid]')
  .description('make a key the one that signs and seals; without an id the one that was added last')
  .option('--now', 'even if some process cannot have read it yet', false)
  .action((ring: string, kid: string | undefined, { now }: { now: boolean }) =>
    operate('keys promote', { ring, kid: kid ?? null, now }),
  );
keys
  .command('retire <ring> <kid>')
  .description('remove a key that is no longer needed')
  .option('--force', 'even if it is still needed; never a master key that wraps data keys', false)
  .action((ring: string, kid: string, { force }: { force: boolean }) =>
    // For a pepper, the operation reads the whole log.
    operate('keys retire', { ring, kid, force }, 600_000),
  );
keys
  .command('rewrap')
  .description('wrap every data key with the active master key; may be repeated at any time')
  .action(() => operateWith(rewrapAll));

interface NodeOptions {
  readonly name: string;
  readonly address: string;
  readonly type: string;
  readonly weight: number;
  readonly loadBalancing: boolean;
  readonly dnsRecord: string;
  readonly capacityHint?: number;
  readonly note: string;
}

interface DismissOptions {
  readonly reason: string;
  readonly receivedBefore: string;
  readonly note: string;
  readonly provider?: string;
  readonly after?: string;
}
interface ResolveOptions {
  readonly action: string;
  readonly order?: string;
  readonly note: string;
}

function parseInteger(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('must be a whole number');
  return Number(text);
}
