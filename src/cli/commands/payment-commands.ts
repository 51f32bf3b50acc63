import { type Command, Option } from 'commander';
import { z } from 'zod';
import { paymentId } from '../../areas/payments/domain/payment.js';
import {
  changeRequest,
  type OperatorQuery,
  type OperatorReply,
  type OperatorRequest,
  readRequest,
} from '../../operating/socket/client.js';
import { operate, operateWith, sayOf, send, parseInteger } from '../operate.js';
import type { Ask } from '../operator.js';

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

interface PeriodOptions {
  readonly from: string;
  readonly to?: string;
  readonly after?: string;
}

interface RecordOptions {
  readonly amount?: number;
  readonly currency?: string;
  readonly transaction?: string;
  readonly refund?: string;
  readonly dispute?: string;
  readonly provider?: string;
  readonly at?: string;
  readonly reason: string;
  readonly evidence: string;
}

/** Options that say what is recorded, and the kind that each names. */
const kinds = [
  ['paid', 'paid', 'the transaction paid --amount'],
  ['refunded', 'refunded', '--amount is refunded of the transaction in all, or by --refund'],
  ['failed', 'failed', 'the payment has failed'],
  ['canceled', 'canceled', 'the payment was canceled'],
  ['disputed', 'disputed', 'the payer disputes the transaction'],
  ['dispute-won', 'dispute_won', 'the dispute ended for the shop'],
  ['dispute-lost', 'dispute_lost', 'the dispute ended for the payer'],
] as const;

const path = '/api/v1/admin/payments';

/** Adds the commands by which operators see and decide on payments. */
export function addPaymentCommands(program: Command): void {
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
      .option('--provider <provider>', 'of this platform only')
      .option('--reason <reason>', 'of this reason only')
      .action((query: OperatorQuery) => send(`payments ${name}`, readRequest(`${path}/${name}`, query)));
  }
  payments
    .command('show <id>')
    .description(
      'what was reported, its outcome and the decisions on it, by the id of a payment, an order or the platform’s transaction',
    )
    .action((id: string) => operateWith((ask) => showAny(id, ask), sayOf('payments show')));
  payments
    .command('order <id>')
    .description(
      'an order by its id or number, with its payments, and the decisions on them with their reasons',
    )
    .action((id: string) => send('payments order', orderOf(id)));
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
      send(
        'payments dismiss',
        changeRequest(`${path}/unmatched/dismiss`, {
          reason: options.reason,
          received_before: options.receivedBefore,
          note: options.note,
          after: options.after,
          provider: options.provider,
        }),
      ),
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
      send(
        'payments resolve',
        changeRequest(`${path}/${encodeURIComponent(id)}/resolve`, { action, order_id: order, note }),
      ),
    );
  payments
    .command('reconcile <provider>')
    .description('ask the platform for what its callbacks of a period did not report')
    .requiredOption('--from <time>', 'the begin of the period, for example 2026-01-02T00:00:00Z')
    .option('--to <time>', 'the end of the period; now when left out')
    .option('--after <next>', '`next` of the call before')
    .action((provider: string, { from, to, after }: PeriodOptions) =>
      operate('payments reconcile', { provider, from, to, after }),
    );
  addRecord(payments);
}

function orderOf(id: string): OperatorRequest {
  return readRequest(`/api/v1/admin/orders/${encodeURIComponent(id)}`);
}

const found = z.object({ items: z.array(z.unknown()), orders: z.array(z.unknown()) });

/** Looks for a payment, an order and a transaction. A transaction may have an id of any form, so it is last. */
async function showAny(id: string, ask: Ask): Promise<OperatorReply> {
  const requests = paymentId.safeParse(id).success ? [readRequest(`${path}/${encodeURIComponent(id)}`)] : [];
  for (const request of [...requests, orderOf(id)]) {
    const reply = await ask(request);
    if (reply.ok || reply.code !== 'not_found') return reply;
  }
  const reply = await ask(readRequest(path, { transaction_id: id }));
  if (!reply.ok) return reply;
  const { items, orders } = found.parse(reply.result);
  if (items.length + orders.length > 0) return reply;
  return { ok: false, code: 'not_found', message: 'no payment, order or transaction has this id' };
}

function addRecord(payments: Command): void {
  const record = payments
    .command('record <order>')
    .description(
      'record what the platform did not report, as a report like a callback’s; it cannot be undone',
    );
  const flags = kinds.map(([flag]) => flag);
  for (const [flag, kind, description] of kinds) {
    const others = flags.filter((other) => other !== flag).map(nameOfFlag);
    record.addOption(new Option(`--${flag}`, description).conflicts(others).default(undefined).preset(kind));
  }
  record
    .option('--amount <number>', 'in minor units: cents, fen, yen', parseInteger)
    .option('--currency <code>', 'such as USD')
    .option('--transaction <id>', 'the platform’s id of the payment')
    .option('--refund <id>', 'the platform’s id of one refund')
    .option('--dispute <id>', 'the platform’s id of the dispute; the transaction’s when left out')
    .option('--provider <provider>', 'the platform; that of the order when left out')
    .option('--at <time>', 'the platform’s time, for example 2026-01-02T00:00:00Z; now when left out')
    .requiredOption('--reason <text>', 'why it is recorded by hand; kept sealed')
    .requiredOption('--evidence <text>', 'how you know, such as a statement; kept sealed')
    .action((order: string, options: RecordOptions & Readonly<Record<string, unknown>>) => {
      const kind = kinds.find(([flag]) => options[nameOfFlag(flag)] !== undefined)?.[1];
      if (kind === undefined) {
        return record.error(`error: one of ${flags.map((flag) => `--${flag}`).join(', ')} is needed`);
      }
      return send('payments record', changeRequest(`${path}/record`, { order, kind, ...givenIn(options) }));
    });
}

/** Returns the attribute under which the parser keeps an option. */
function nameOfFlag(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the options under the names of the request. */
function givenIn(options: RecordOptions) {
  const { amount, currency, transaction, refund, dispute, provider, at, reason, evidence } = options;
  const ids = { transaction_id: transaction, refund_id: refund, dispute_id: dispute };
  return { amount, currency, ...ids, provider, at, reason, evidence };
}
