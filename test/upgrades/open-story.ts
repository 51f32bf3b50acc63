import type { ExecutionContext } from 'ava';
import { partial } from '../support/fakes/partial.js';
import { givenStripe } from '../support/platforms/fake-stripe.js';
import { startSmtpServer } from '../support/servers/smtp-server.js';
import { openRecorded, storyStartsAt } from './recorded-service.js';
import { tellStory } from './story.js';

/**
 * Opens the service of the story, with its mail server and its platform, outside a test.
 * @param onRequest is called before each request of the story
 */
export async function openStory(directory: string, onRequest: () => Promise<void> = () => Promise.resolve()) {
  const ends: (() => unknown)[] = [];
  const t = partial<ExecutionContext>({
    teardown: (end: () => unknown) => ends.push(end),
  });
  const time = { nowMs: storyStartsAt };
  const now = (): Date => new Date(time.nowMs);
  const smtp = await startSmtpServer();
  ends.push(() => smtp.close());
  const stripe = await givenStripe(t, { now });
  const service = await openRecorded(directory, {
    now: () => time.nowMs,
    environment: { SMTP_URL: smtp.url },
    stripeUrl: stripe.url,
  });
  const step = async (): Promise<void> => {
    time.nowMs += 1_000;
    await onRequest();
  };
  return {
    service,
    /** The wall clock of the service. */
    time,
    tell: () => tellStory(t, service, { smtp, stripe, now, step }),
    /** Ends the mail server and the platform. */
    end: async () => {
      for (const end of ends.reverse()) await end();
    },
  };
}
