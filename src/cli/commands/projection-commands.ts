import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { type OperatorReply, changeRequest, readRequest } from '../../operating/socket/client.js';
import { makeProgressBar, unlessConfirmed } from '../terminal.js';
import { done, operate, operateWith, sayOf, show, parseInteger } from '../operate.js';
import type { Ask } from '../operator.js';

/** A replay by time reads the whole log. */
const replayMs = 600_000;

/** Adds the commands of outgoing events (docs/webhooks.md#operators). */
export function addWebhookCommands(program: Command): void {
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

const prunable = z.object({ items: z.array(z.string()) });

const listed = z.object({
  items: z.array(
    z.looseObject({
      ...{ name: z.string(), live: z.int(), feeders: z.array(z.string()) },
      building: z.looseObject({ generation: z.int() }).nullable(),
      last_rebuild: z.looseObject({ compared: z.int(), different: z.int() }).nullable(),
    }),
  ),
});

/** A prune drops collection after collection. */
const pruneMs = 600_000;
const lookMs = 1_000;
/** The least duration of the first phase of a rebuild in ms: src/event-sourcing/views/README.md#generations-and-rebuild. */
const usualMs = 16_000;
/** A view without a feeder for this time has none: another process takes a view over within 10 s. */
const stalledMsMax = 60_000;

/** Adds the commands on read models. */
export function addProjectionCommands(program: Command): void {
  const projection = program.command('projection').description('read models');
  projection
    .command('list')
    .description(
      'every view with its generations and how far it is, and the events that reactions have quarantined',
    )
    .action(() => show('projection list'));
  projection
    .command('rebuild <name>')
    .description('build a view again beside the live one, and switch to it when it has caught up')
    .option('--wait', 'end when readers use the new generation', false)
    .option('--timeout <seconds>', 'with --wait: give up waiting after this time', parseInteger, 3_600)
    .action((name: string, { wait: waits, timeout }: { readonly wait: boolean; readonly timeout: number }) =>
      operateWith(
        async (ask) => {
          const reply = await ask(changeRequest('projection rebuild', { name }));
          return reply.ok && waits ? untilSwitched(name, timeout * 1_000, ask) : reply;
        },
        sayOf(waits ? 'projection rebuild --wait' : 'projection rebuild'),
      ),
    );
  projection
    .command('prune')
    .description(
      'drop the read models that this release does not have; refused while a process of another release runs',
    )
    .option('--yes', 'do not ask', false)
    .action(({ yes }: { readonly yes: boolean }) =>
      operateWith((ask) => prune(yes, ask), sayOf('projection prune')),
    );
}

/** Waits until readers use the generation that is being built. The rebuild goes on if this gives up. */
async function untilSwitched(name: string, timeoutMs: number, ask: Ask): Promise<OperatorReply> {
  const bar = makeProgressBar(`rebuilding ${name}`);
  const beganMs = performance.now();
  let activeAtMs = beganMs;
  try {
    for (;;) {
      const reply = await ask(readRequest('projection list'));
      if (!reply.ok) return reply;
      const view = listed.parse(reply.result).items.find((item) => item.name === name);
      if (view?.building === null) {
        const { compared = 0, different = 0 } = view.last_rebuild ?? {};
        return done({ name, live: view.live, compared, different });
      }
      const nowMs = performance.now();
      if (view !== undefined && view.feeders.length > 0) activeAtMs = nowMs;
      const problem = problemAt({ waitedMs: nowMs - beganMs, stalledMs: nowMs - activeAtMs, timeoutMs });
      if (problem !== null) return { ok: false, ...problem };
      bar.show(Math.min(0.99, (nowMs - beganMs) / usualMs));
      await wait(lookMs);
    }
  } finally {
    bar.end();
  }
}

function problemAt(times: {
  readonly waitedMs: number;
  readonly stalledMs: number;
  readonly timeoutMs: number;
}): { readonly code: string; readonly message: string } | null {
  if (times.stalledMs >= stalledMsMax) {
    return {
      code: 'view_stalled',
      message: 'no process feeds the view; start the service, and the rebuild goes on',
    };
  }
  if (times.waitedMs < times.timeoutMs) return null;
  const message = `the rebuild has not ended in ${times.timeoutMs / 1_000} s and goes on; see projection list`;
  return { code: 'still_rebuilding', message };
}

/** Drops, after a question at the terminal. */
async function prune(yes: boolean, ask: Ask): Promise<OperatorReply> {
  const plan = await ask(readRequest('projection prunable'));
  if (!plan.ok) return plan;
  const { items } = prunable.parse(plan.result);
  const what = `${items.length} collections and records of read models that this release does not have: ${items.join(', ')}`;
  const texts = { question: `Drop ${what}?`, does: `drops ${what}`, nothing: 'nothing was dropped' };
  const refusal = yes || items.length === 0 ? null : await unlessConfirmed(texts);
  return refusal ?? ask(changeRequest('projection prune'), pruneMs);
}
