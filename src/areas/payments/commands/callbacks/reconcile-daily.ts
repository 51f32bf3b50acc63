import { isRecent } from '../../../../kit/time/clock.js';
import { z } from 'zod';
import type { PaymentProviderName } from '../../domain/payment.js';
import { untilDueMs } from '../../../../event-sourcing/effects/outbox.js';
import { changeRecord } from '../../../../event-sourcing/ports/change-record.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { PaymentDeps } from '../../deps.js';
import type { ReconcilePayments } from './reconciling.js';

const dayMs = 86_400_000;
/** An order waits a day for its payment. Platforms repeat callbacks for three days. */
const periodMs = 4 * dayMs;
/** No other process asks during the claim: a call ends within a minute. */
const claimMs = 120_000;
/** The wait after a call that failed. */
const putOffMs = 900_000;

/** Storage format of the record of one platform, which all processes share. */
const recordSchema = z.strictObject({
  /** The time from which a process may ask. */
  due: z.iso.datetime(),
  /** The end of the period that is under way; null between two runs. */
  to: z.iso.datetime().nullable(),
  /** `next` of the last call. */
  after: z.string().nullable(),
});
type RunRecord = z.infer<typeof recordSchema>;

/**
 * Reconciles the last four days with each platform that can be asked, once in 24 hours. All processes call it
 * about once a minute, and share a record, so one of them asks. A crash between a call and its record asks again, which
 * changes nothing.
 * @returns what was asked, by platform; empty when nothing was due @throws the error of the first platform that failed
 */
export function makeReconcileDaily(
  deps: Pick<PaymentDeps, 'paymentMakers' | 'stateStore' | 'clock'> & {
    readonly reconcilePayments: ReconcilePayments;
  },
) {
  const { paymentMakers, stateStore, clock, reconcilePayments } = deps;
  const providers = [...paymentMakers]
    .filter(([, { asks }]) => asks !== undefined)
    .map(([provider]) => provider);
  return async (makeContext: () => CommandContext) => {
    const done = new Map<PaymentProviderName, { asked: number; reported: number }>();
    const failures: unknown[] = [];
    for (const provider of providers) {
      const claimed = await claim(provider);
      if (claimed === null) continue;
      const { record, version } = claimed;
      const to = new Date(record.to ?? clock.now());
      const from = new Date(to.getTime() - periodMs);
      const finish = (next: RunRecord) => stateStore.compareAndSet(keyOf(provider), version, next);
      try {
        const { asked, reported, next } = await reconcilePayments(
          { provider, from, to, after: record.after },
          makeContext(),
        );
        done.set(provider, { asked, reported });
        const due = new Date(next === null ? to.getTime() + dayMs : clock.now().getTime());
        await finish({
          due: due.toISOString(),
          to: next === null ? null : to.toISOString(),
          after: next,
        });
      } catch (error) {
        failures.push(error);
        await finish({ ...record, due: new Date(clock.now().getTime() + putOffMs).toISOString() });
      }
    }
    if (failures.length > 0) throw failures[0];
    return done;
  };

  /** Takes the right to ask; null while nothing is due, or another process has the right. */
  async function claim(
    provider: PaymentProviderName,
  ): Promise<{ readonly record: RunRecord; readonly version: string } | null> {
    const now = clock.now();
    const changed = await changeRecord(
      stateStore,
      { key: keyOf(provider), schema: recordSchema },
      (found) => {
        const not_before = found?.value.due ?? '';
        if (untilDueMs({ not_before }, { longestMs: dayMs }, now) > 0) return { keep: null };
        const due = new Date(now.getTime() + claimMs).toISOString();
        // A run that cannot end within a day gives way to the next one, or no later order would ever be asked for.
        const underWay = found?.value.to ?? null;
        const goesOn = underWay !== null && isRecent(Date.parse(underWay), dayMs, now);
        const record: RunRecord = goesOn
          ? { due, to: underWay, after: found?.value.after ?? null }
          : { due, to: now.toISOString(), after: null };
        return { write: record, result: record };
      },
      { tries: 1 },
    );
    return changed === null || 'kept' in changed
      ? null
      : { record: changed.result, version: changed.version };
  }
}

function keyOf(provider: PaymentProviderName): string {
  return `payments/reconciled/${provider}`;
}
