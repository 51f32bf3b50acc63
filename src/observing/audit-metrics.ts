import type { Registry } from 'prom-client';
import type { Clock } from '../kit/time/clock.js';
import { gaugesOf, secondsSince } from './gauges.js';

/** The values of the audit log's metrics: src/areas/audit/README.md#audit-log. */
interface AuditMetrics {
  readonly log: { readonly size: number } | null;
  readonly signed: { readonly size: number; readonly signed_at: string } | null;
  readonly problem: unknown;
  readonly contradiction: unknown;
  readonly witnesses: readonly {
    readonly name: string;
    readonly size: number;
    readonly isAwaited: boolean;
  }[];
}

/** Registers the metrics of the audit log. */
export function registerAuditMetrics(
  registry: Registry,
  clock: Pick<Clock, 'now'>,
  audit: { readonly status: () => AuditMetrics; readonly sweptAt: () => Date | null },
): void {
  const gauge = gaugesOf(registry);
  gauge(
    'stowage_audit_size',
    'Events in the audit log, up to 10 s old where another process sequences.',
    () => audit.status().log?.size ?? 0,
  );
  gauge(
    'stowage_audit_signed_size',
    'Events under the last signed checkpoint.',
    () => audit.status().signed?.size ?? 0,
  );
  gauge(
    'stowage_audit_unsigned_seconds',
    'Seconds since the last checkpoint while newer events wait for a signature; 0 when none waits.',
    () => {
      const { log, signed } = audit.status();
      if (signed === null || (log?.size ?? 0) <= signed.size) return 0;
      return secondsSince(clock, new Date(signed.signed_at));
    },
  );
  gauge(
    'stowage_audit_contradiction',
    '1 while the log contradicts what was signed, so that no checkpoint is signed; GET /audit/status says why.',
    () => Number(audit.status().contradiction !== null),
  );
  gauge(
    'stowage_audit_stopped',
    '1 while an event or a damaged tile stops the sequencing; the log says why.',
    () => Number(audit.status().problem !== null),
  );
  gauge(
    'stowage_audit_sweep_age_seconds',
    'Seconds since this process last compared all tiles with the log; -1 before the first time.',
    () => {
      const at = audit.sweptAt();
      return at === null ? -1 : secondsSince(clock, at);
    },
  );
  const ofWitnesses = (value: (witness: AuditMetrics['witnesses'][number]) => number) => () =>
    audit.status().witnesses.map((one) => [{ witness: one.name }, value(one)] as const);
  gauge(
    'stowage_audit_witness_size',
    'Events under the last cosignature that this process got from a witness.',
    ofWitnesses(({ size }) => size),
    ['witness'],
  );
  gauge(
    'stowage_audit_witness_awaited',
    '1 while a witness has not answered since this process started: the first signature waits for it.',
    ofWitnesses(({ isAwaited }) => Number(isAwaited)),
    ['witness'],
  );
}
