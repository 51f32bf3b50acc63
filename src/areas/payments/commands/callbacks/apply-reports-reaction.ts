import { transactionCategory, transactionCodec } from '../../domain/transaction/events.js';
import type { AnyReaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { PaymentReports } from './payment-reports.js';

/**
 * Applies what the requests of callbacks did not: every report, and the reports that an event releases. The process that
 * serves the request has its streams cached afterwards, so the reaction waits for it and reads nothing there. Otherwise its commands read what is
 * applicable, and append nothing where the order knows it.
 */
export function makeApplyReports({
  underWay,
  isApplied,
  apply,
}: Pick<PaymentReports, 'underWay' | 'isApplied' | 'apply'>): AnyReaction {
  return {
    name: 'apply-payment-reports',
    category: transactionCategory,
    codec: transactionCodec,
    types: ['PaymentReported', 'PaymentReportResolved'],
    asks: async (event) => {
      if (underWay.has(streamIdOf(event))) return 'not-yet';
      return (await isApplied(streamIdOf(event), Number(event.revision))) ? 'no' : 'yes';
    },
    conclude: async (event, context) => {
      await apply(streamIdOf(event), Number(event.revision), context);
    },
  };
}
