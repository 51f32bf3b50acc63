import { Gauge, type Registry } from 'prom-client';
import { StreamDamaged } from '../event-sourcing/ports/errors.js';

/** The streams that this process has found damaged since its start, by a read or an append or by the reader of the log. */
export interface DamagedStreams {
  /** Notes the stream of a `StreamDamaged`. Ignores every other error. */
  readonly note: (error: unknown) => void;
  register(registry: Registry): void;
}

/** The largest count. It bounds the memory, and is enough to show that more than one stream is damaged. */
const countMax = 1_000;

export function makeDamagedStreams(): DamagedStreams {
  const names = new Set<string>();
  const gauge = new Gauge({
    name: 'stowage_damaged_streams',
    help: `Streams that lack events or were deleted, as this process has found since its start; ${countMax} are that many or more.`,
    registers: [],
    collect() {
      this.set(names.size);
    },
  });
  return {
    note: (error) => {
      if (error instanceof StreamDamaged && names.size < countMax) names.add(error.stream);
    },
    register: (registry) => {
      registry.registerMetric(gauge);
    },
  };
}
