import type { ExecutionContext } from 'ava';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import type { Clock } from '../../../../src/kit/time/clock.js';
import type { StoredEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import { derivedId } from '../../../../src/event-sourcing/deciding/command-handler.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import {
  type ReactionRunner,
  startReactions,
} from '../../../../src/event-sourcing/effects/reaction-runner.js';
import { makeSoleLease } from '../../../../src/event-sourcing/feeding/consumers/lease.js';
import { makeOutbox } from '../../../../src/event-sourcing/effects/outbox.js';
import { makeMailOutbox } from '../../../../src/mail/mail-outbox.js';
import { makeMailer } from '../../../../src/mail/mailer.js';
import { parseSmtpUrl } from '../../../../src/mail/smtp-url.js';
import type { MailDeps } from '../../../../src/areas/shared/mail-reaction.js';
import { makeSeededRandom, realClock } from '../../fakes/clock.js';
import { mailWaits } from '../../given/given-mails.js';
import { type GivenStores, givenContext, givenStores } from '../../given/given-stores.js';
import { makeMemoryReadModelStore } from '../../fakes/memory-read-model-store.js';
import { type SmtpServerOptions, startSmtpServer, type TestSmtpServer } from '../../servers/smtp-server.js';

export const publicUrl = 'https://stowage.example';

/** Given reactions that mail, over stores in memory and a real SMTP server. */
export interface MailScene {
  readonly stores: GivenStores;
  readonly smtp: TestSmtpServer;
  readonly refused: string[];
  /**
   * Starts the reactions as another process does, from the beginning of the log. They stop when the test ends.
   * @param aheadMs how far the clock of that process is ahead
   */
  readonly start: (aheadMs?: number) => ReactionRunner;
  /** Waits until no event is open. */
  readonly settled: (runner: ReactionRunner) => Promise<void>;
  readonly events: (stream: string) => Promise<readonly StoredEvent[]>;
  readonly registerUser: (n: number, email: string, nickname: string) => Promise<string>;
}

export async function givenMail(
  t: ExecutionContext,
  makeReactions: (deps: MailDeps, stores: GivenStores) => readonly AnyReaction[],
  options: SmtpServerOptions = {},
): Promise<MailScene> {
  const stores = await givenStores({ clock: { ...realClock, advance: () => undefined } });
  const { handler, sealer, digests, eventStore, stateStore } = stores;
  const smtp = await startSmtpServer(options);
  const server = parseSmtpUrl(smtp.url);
  if (server === null) throw new Error('the SMTP URL is not valid');
  const refused: string[] = [];
  const runners: ReactionRunner[] = [];
  t.teardown(async () => {
    await Promise.all(runners.map((runner) => runner.stop()));
    await smtp.close();
  });
  const mailer = makeMailer({
    server,
    from: { name: 'Stowage', address: 'no-reply@stowage.example' },
    times: { connectMs: 5_000, greetingMs: 5_000, replyMs: 10_000 },
  });
  return {
    stores,
    smtp,
    refused,
    start: (aheadMs = 0) => {
      const clock: Clock = { ...realClock, now: () => new Date(Date.now() + aheadMs) };
      const readModelStore = makeMemoryReadModelStore();
      const holder = `process ${runners.length}`;
      const outbox = makeOutbox({ stateStore, clock, onRetry: (_, error) => t.fail(String(error)) });
      const mails = makeMailOutbox({
        ...{ outbox, stateStore, mailer, clock, random: makeSeededRandom(1), waits: mailWaits },
        onRetry: () => undefined,
        onGivenUp: ({ kind }, error) => refused.push(`${kind}: ${error.message}`),
      });
      const runner = startReactions(
        {
          ...{ eventStore, stateStore, readModelStore, clock, random: makeSeededRandom(1), holder },
          lease: makeSoleLease(holder),
        },
        makeReactions({ mails, eventStore, clock, publicUrl }, stores),
        {
          onRetry: () => undefined,
          onQuarantined: (name, { reason }) => t.fail(`${name} has quarantined an event: ${reason}`),
          onStopped: (name, error) => t.fail(`${name} stopped: ${String(error)}`),
        },
      );
      const close = outbox.open({ ...mails.lane, graceMs: 50 });
      const process = {
        ...runner,
        stop: async () => {
          await Promise.all([runner.stop(), close()]);
        },
      };
      runners.push(process);
      return process;
    },
    settled: async (runner) => {
      // A busy machine takes longer than any mail does.
      const deadline = Date.now() + 60_000;
      const isSettled = async (): Promise<boolean> => {
        const head = await eventStore.head();
        const isRead = runner.statuses().every(({ open, position }) => open === 0 && position === head);
        return isRead && (await stateStore.list('outbox/', { limit: 1 })).length === 0;
      };
      while (!(await isSettled())) {
        if (Date.now() > deadline) throw new Error(`still open: ${JSON.stringify(runner.statuses())}`);
        await realClock.sleep(5);
      }
    },
    events: (stream) => eventStore.read(stream),
    registerUser: async (n, email, nickname) => {
      const context = givenContext(n, new Date());
      const userId = derivedId(context, 'user');
      const seal = (field: string, text: string) => sealer.seal({ kind: 'person', userId }, field, text);
      await handler.handle(
        { aggregate: userAggregate, id: userId },
        {
          type: 'Register',
          email: await seal('email', email),
          email_digest: digests.email(email),
          nickname: await seal('nickname', nickname),
          password_hash: await seal('password_hash', 'hash'),
          capacityBytes: 1,
        },
        context,
      );
      return userId;
    },
  };
}
