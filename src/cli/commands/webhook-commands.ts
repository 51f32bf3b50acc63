import type { Command } from 'commander';
import { operate, show } from '../operate.js';

/** A replay by time reads the whole log. */
const replayMs = 600_000;

/** Adds the commands of outgoing events (docs/webhooks.md#operators). */
export function addWebhookCommands(program: Command, parseInteger: (text: string) => number): void {
  const webhooks = program.command('webhooks').description('events that the service sends; docs/webhooks.md');
  webhooks
    .command('list')
    .description('every endpoint with its pending and failed deliveries; never a secret')
    .action(() => show('webhooks list'));
  webhooks
    .command('failed <endpoint>')
    .description('deliveries that the service gave up in the last 30 days')
    .option('--limit <number>', 'how many at most', parseInteger, 50)
    .action((endpoint: string, { limit }: { readonly limit: number }) =>
      show('webhooks failed', { endpoint, limit }),
    );
  webhooks
    .command('replay <endpoint>')
    .description('send events again, with the webhook-id that they had')
    .option('--from <time>', 'events since then, for example 2026-01-02T00:00:00Z; reads the whole log')
    .option('--resource <stream>', 'events of one resource, for example order-<id>')
    .option('--failed', 'deliveries that the service gave up', false)
    .action((endpoint: string, { from, resource, failed }: ReplayOptions) =>
      operate('webhooks replay', { endpoint, from, resource, failed }, replayMs),
    );
}

interface ReplayOptions {
  readonly from?: string;
  readonly resource?: string;
  readonly failed: boolean;
}
