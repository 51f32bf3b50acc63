import type { ExecutionContext } from 'ava';
import type { AuditEventResource } from '../../../projections/audit/resource.js';
import type { AuditStatus } from '../../../src/areas/audit/signing/audit-log.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Answer } from '../clients/http-app.js';
import { asObject, textOf } from '../clients/service-client.js';
import { startTestService } from '../servers/http-service.js';
import { makeAuditOnDemand } from './audit-source.js';
import { readWholeLog } from './audit-scene.js';

export type AuditPage = {
  readonly items: readonly AuditEventResource[];
  readonly next_cursor: string | null;
};

/** Starts a service with an auditor, two projects of one owner, and a log that `sign` signs. */
export async function givenAudit(t: ExecutionContext) {
  let audit: ReturnType<typeof makeAuditOnDemand> | null = null;
  let lost: Partial<AuditStatus> = {};
  const service = await startTestService(t, {
    makeAudit: (stores) => {
      const made = makeAuditOnDemand(stores);
      audit = made;
      return { ...made, log: { ...made.log, status: () => ({ ...made.log.status(), ...lost }) } };
    },
    rates: { session: { limit: 10_000, seconds: 1 }, user: { limit: 10_000, seconds: 1 } },
  });
  const { stores, signUp, grantRole, passTwoFactor, verify, makeProject, post, get } = service;
  const auditor = await signUp('auditor');
  await grantRole('auditor', 'auditor');
  const factor = await passTwoFactor(auditor);
  const owner = await signUp('owner');
  const ownerId = await verify('owner');
  const [project, other] = [await makeProject(owner), await makeProject(owner)];
  const keyFor = async (of: string, scopes: readonly string[]): Promise<{ 'x-api-key': string }> => {
    const made = await post(`/api/v1/projects/${of}/api-keys`, { name: 'Audit', scopes }, owner);
    t.is(made.status, 201, made.text);
    return { 'x-api-key': textOf(asObject(made.json), 'key') };
  };
  const page = async (
    path: string,
    headers: Readonly<Record<string, string>> = auditor,
  ): Promise<AuditPage> => {
    const answer = await get(path, headers);
    t.is(answer.status, 200, answer.text);
    return answer.json as AuditPage;
  };
  const sign = async (): Promise<number> =>
    (await (audit as ReturnType<typeof makeAuditOnDemand>).sign()).size;
  const events = () => readWholeLog(stores.eventStore);
  /** Makes the log one that has lost events. */
  const lose = (size: number): void => {
    const found = {
      origin: 'o',
      found_at: '2026-01-02T03:04:05.000Z',
      source: 'record',
      what: 'shorter',
      size,
    };
    const log = { logId: 'l', atHead: true, size, root: Buffer.alloc(32), restart: null, time: null };
    lost = { contradiction: found, log };
  };
  return { ...service, auditor, factor, owner, ownerId, project, other, keyFor, page, sign, events, lose };
}

/** Returns status and code of an error. */
export function codeOf({ status, json }: Answer): readonly [number, unknown] {
  return [status, (json as JsonObject)['code']];
}
