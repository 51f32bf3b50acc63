import test from 'ava';
import { Registry } from 'prom-client';
import { registerAuditMetrics } from '../../src/observing/audit-metrics.js';

test('The metrics of the audit log count its events, and the seconds since its signature and its sweep', async (t) => {
  // Given a log with 7 events, 5 of which were signed a minute ago
  const registry = new Registry();
  const status = {
    log: { size: 7 },
    signed: { size: 5, signed_at: '2026-01-01T00:00:00.000Z' },
    ...{ problem: null, contradiction: 'another root', witnesses: [] },
  };
  const clock = { now: () => new Date('2026-01-01T00:01:00Z') };
  const sweptAt = () => new Date('2026-01-01T00:00:30Z');
  registerAuditMetrics(registry, clock, { status: () => status, sweptAt });
  // When
  const lines = (await registry.metrics()).split('\n').filter((line) => /^stowage/.test(line));
  // Then
  t.deepEqual(lines, [
    'stowage_audit_size 7',
    'stowage_audit_signed_size 5',
    'stowage_audit_unsigned_seconds 60',
    'stowage_audit_contradiction 1',
    'stowage_audit_stopped 0',
    'stowage_audit_sweep_age_seconds 30',
  ]);
});
