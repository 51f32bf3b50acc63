import { z } from 'zod';
import { changeRecord } from '../event-sourcing/ports/change-record.js';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';
import type { StateStore } from '../event-sourcing/ports/state-store.js';
import { type Outbox, untilDueMs } from '../event-sourcing/effects/outbox.js';
import { eventReferenceSchema } from '../event-sourcing/feeding/quarantine.js';
import { backoff, type Clock, type Random } from '../kit/time/clock.js';
import type { MailOutcome } from '../validation/fields.js';
import { MailNotSent, MailRefused, MailUnknown, type Mailer, type OutgoingMail } from './mailer.js';

/**
 * Storage format of `outbox/mail/<kind>/<id>`: a mail that waits. It has no text, address or code: they are opened at each
 * attempt.
 */
const mailSchema = z.strictObject({
  /** The event that asks for the mail; null for a mail of no event. */
  event: eventReferenceSchema.nullable(),
  /** The id of the user, or the place of the operator, who gets it; null where the address may be no user's. */
  person: z.string().nullable(),
  /** Copies that the server may have: those that it got, but did not answer. */
  unknown: z.int().nonnegative(),
  /** Attempts in a row that sent nothing. */
  failures: z.int().nonnegative(),
  not_before: z.iso.datetime(),
  since: z.iso.datetime(),
});
type MailRecord = z.infer<typeof mailSchema>;

/** A mail of the outbox. Its id is in the Message-ID, so all copies have one. */
interface RequestedMail extends Pick<MailRecord, 'event' | 'person'> {
  readonly id: string;
}

/** What an attempt needs. */
interface OpenedMail {
  readonly mail: OutgoingMail;
  /** Appends the outcome. Repeating it is harmless. */
  readonly record: (outcome: MailOutcome) => Promise<void>;
}

/** A kind of mails, by the name that its records have. */
interface MailKind {
  readonly name: string;
  /** Opens texts and address; null when the mail is not wanted any more. */
  readonly open: (mail: RequestedMail & { readonly since: Date }) => Promise<OpenedMail | null>;
}

/** When a mail is repeated, in milliseconds. */
export interface MailWaits {
  /** After an attempt that sent nothing: doubled each time, up to sixty times. */
  readonly retryMs: number;
  /** After each copy without an answer. After the last one the mail is given up. */
  readonly unknownMs: readonly number[];
}

export type MailOutbox = ReturnType<typeof makeMailOutbox>;

interface MailOutboxEvents {
  readonly onRetry: (mail: { readonly kind: string; readonly person: string | null }, error: unknown) => void;
  /** The server refused the mail for good, or did not answer any copy. */
  readonly onGivenUp: (mail: { readonly kind: string; readonly person: string | null }, error: Error) => void;
}

/** As many as the spacing begins in a minute of silence, so that a slow server holds up no other recipient; a fast one sees few. */
const atOnce = { written: 1_200, found: 200 };
const spacingMs = 50;
const graceMs = 5_000;
const prefix = 'outbox/mail/';

/** Makes the lane of mails. @param deps.mailer sends; a mail that it has handed over is never sent again soon */
export function makeMailOutbox(
  deps: {
    readonly outbox: Pick<Outbox, 'wake'>;
    readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
    readonly mailer: Pick<Mailer, 'send'>;
    readonly clock: Clock;
    readonly random: Random;
    readonly waits: MailWaits;
  } & MailOutboxEvents,
) {
  const { outbox, stateStore, mailer, clock, random, waits } = deps;
  const kinds = new Map<string, MailKind>();
  const name = 'mail';
  const longestMs = Math.max(retry().cap, ...waits.unknownMs);
  return {
    lane: { name, atOnce, spacingMs, longestMs, graceMs, attempt },
    /** Adds a kind. @returns the function that writes a record and wakes the outbox; a record that exists stays as it is */
    add: (kind: MailKind): ((mail: RequestedMail) => Promise<void>) => {
      kinds.set(kind.name, kind);
      return async ({ id, event, person }) => {
        const key = `${prefix}${kind.name}/${id}`;
        const since = clock.now().toISOString();
        const write: MailRecord = { event, person, unknown: 0, failures: 0, not_before: since, since };
        await changeRecord(
          stateStore,
          { key, schema: mailSchema },
          (found) => (found === null ? { write, result: null } : { keep: null }),
          { tries: 3, first: null, unknownOutcome: 'retry' },
        );
        outbox.wake(name, key);
      };
    },
  };

  async function attempt(key: string, signal: AbortSignal): Promise<Date | null> {
    const stored = await stateStore.get(key);
    if (stored === null) return null;
    const record = mailSchema.parse(stored.value);
    if (untilDueMs(record, { longestMs }, clock.now()) > 0) return new Date(record.not_before);
    const [kindName = '', id = ''] = key.slice(prefix.length).split('/');
    const kind = kinds.get(kindName);
    // A process of another release knows it.
    return kind === undefined ? null : deliver(kind, { ...stored, id, record }, signal);
  }

  async function deliver(
    kind: MailKind,
    found: {
      readonly key: string;
      readonly version: string;
      readonly id: string;
      readonly record: MailRecord;
    },
    signal: AbortSignal,
  ): Promise<Date | null> {
    const { key, id, record } = found;
    const mail = { kind: kind.name, person: record.person };
    const open = () => kind.open({ ...record, id, since: new Date(record.since) });
    let { version } = found;
    const seen = { isAccepted: false, isTaken: false };
    try {
      const opened = await open();
      const outcome = opened === null ? null : await send(opened);
      seen.isAccepted = outcome === 'accepted';
      if (opened !== null && outcome !== null) await recordOutcome(opened, outcome);
      await write(null);
      return null;
    } catch (error) {
      // Another process has changed the record, or the next start finds it as it is.
      if (seen.isTaken || signal.aborted) return null;
      deps.onRetry(mail, error);
      const mayHaveIt = seen.isAccepted || error instanceof MailUnknown;
      const next = mayHaveIt ? handedOver() : notSent();
      return (await write(next)) ? new Date(next.not_before) : null;
    }

    /** @returns the outcome; null when the mail is not wanted any more @throws MailNotSent, MailUnknown */
    async function send({ mail: outgoing }: OpenedMail): Promise<MailOutcome | null> {
      const wanted = { still: true };
      try {
        if (record.unknown > waits.unknownMs.length)
          throw new MailUnknown('the mail server did not say whether it accepted any copy of the mail');
        await mailer.send(outgoing, signal, async () => {
          // The server may have let the mail wait for long.
          wanted.still = (await open()) !== null;
          if (!wanted.still) throw new MailNotSent('the mail is not wanted any more');
          // From here on the server may have the mail, also if this process dies.
          seen.isTaken = !(await write(handedOver()));
          if (seen.isTaken) throw new MailNotSent('another process has taken the mail');
        });
        return 'accepted';
      } catch (error) {
        if (!wanted.still) return null;
        const isLast = error instanceof MailUnknown && record.unknown >= waits.unknownMs.length;
        if (!isLast && !(error instanceof MailRefused)) throw error;
        deps.onGivenUp(mail, error);
        return isLast ? 'unknown' : 'refused';
      }
    }

    /** The server has the mail, so only the record of it is tried again. */
    async function recordOutcome({ record: append }: OpenedMail, outcome: MailOutcome): Promise<void> {
      for (let failures = 0; ; failures += 1) {
        try {
          await append(outcome);
          return;
        } catch (error) {
          if (!(error instanceof StoreUnavailable) || signal.aborted) throw error;
          deps.onRetry(mail, error);
          await clock.sleep(backoff(failures, random, retry()), signal).catch(() => undefined);
        }
      }
    }

    function handedOver(): MailRecord {
      const { unknown } = record;
      const waitMs = waits.unknownMs[unknown] ?? waits.unknownMs.at(-1) ?? 0;
      return { ...record, unknown: unknown + 1, failures: 0, not_before: later(waitMs) };
    }

    function notSent(): MailRecord {
      const { failures } = record;
      return { ...record, failures: failures + 1, not_before: later(backoff(failures, random, retry())) };
    }

    /** @returns false when another process has changed the record */
    async function write(value: MailRecord | null): Promise<boolean> {
      const written = await stateStore.compareAndSet(key, version, value);
      version = written ?? version;
      return written !== null;
    }
  }

  function later(ms: number): string {
    return new Date(clock.now().getTime() + ms).toISOString();
  }

  function retry() {
    return { first: waits.retryMs, cap: 60 * waits.retryMs };
  }
}
