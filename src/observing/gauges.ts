import { Gauge, type Registry } from 'prom-client';
import { StoreDamaged, StoreUnavailable } from '../event-sourcing/ports/errors.js';

/** The value of a gauge without labels, or one for each set of labels. */
type GaugeValues = number | readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

/**
 * Returns a function that registers gauges, each computed when the metrics are read. A gauge has no value while a store that it
 * reads is unavailable, which the metrics of the store show, or returns damaged data: one document must not take all metrics away.
 * `labelNames` are left out for a gauge of one number.
 */
export const gaugesOf =
  (registry: Registry) =>
  (
    name: string,
    help: string,
    values: () => GaugeValues | Promise<GaugeValues>,
    labelNames: readonly string[] = [],
  ): void => {
    new Gauge({
      ...{ name, help, labelNames: [...labelNames], registers: [registry] },
      async collect() {
        // `reset` would set a gauge without labels to 0.
        if (labelNames.length > 0) this.reset();
        else this.remove();
        try {
          const found = await values();
          for (const [labels, value] of typeof found === 'number' ? [[{}, found] as const] : found)
            this.set(labels, value);
        } catch (error) {
          if (!(error instanceof StoreUnavailable) && !(error instanceof StoreDamaged)) throw error;
        }
      },
    });
  };

/** @returns the seconds since a time, never negative, because another process may have noted it by its clock; 0 without one */
export function secondsSince(clock: { now(): Date }, at: Date | null): number {
  return at === null ? 0 : Math.max(0, clock.now().getTime() - at.getTime()) / 1_000;
}
