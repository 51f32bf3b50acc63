import { z } from 'zod';
import { originOf, servedNote, summaryOf } from '../../areas/audit/signing/audit-records.js';
import type { AuditLog } from '../../areas/audit/signing/audit-log.js';
import { witnessProblem } from '../../areas/audit/signing/witnesses.js';
import type { LogResources } from '../../areas/audit/history/log-resources.js';
import type { SweepProgress } from '../../areas/audit/signing/sweep.js';
import { parseTilePath } from '../../areas/audit/tree/tiles.js';
import type { Commands } from '../../areas/commands.js';
import { CommandRejected } from '../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import { noQuery } from '../../http/route-spec.js';
import type { Route } from '../../http/route.js';
import { changing, reading, serving } from './operator-route.js';

const restart = z.strictObject({ reason: z.string().trim().min(1).max(500) });
const file = z.strictObject({ path: z.string(), size: z.coerce.number().int().positive() });

/** Makes the routes of the audit log (src/areas/audit/README.md#audit-log). */
export function makeAuditOperations(deps: {
  readonly audit: {
    readonly log: Pick<AuditLog, 'status' | 'readSigned'>;
    readonly sweep: { readonly progress: () => SweepProgress };
    readonly resources: Pick<LogResources, 'read'>;
    readonly vkeys: (origin: string) => readonly string[];
  };
  readonly commands: Pick<Commands, 'restartAuditLog'>;
  readonly eventStore: Pick<EventStore, 'logId'>;
}): readonly Route[] {
  const { audit, commands, eventStore } = deps;
  return [
    reading('audit status', noQuery, async () => {
      const { log, contradiction, problem, witnesses } = audit.log.status();
      return {
        origin: await origin(),
        size: log?.size ?? null,
        ...summaryOf(await audit.log.readSigned()),
        witnesses: witnesses.map((witness) => {
          const { name, size } = witness;
          return { name, size, problem: witnessProblem(witness) };
        }),
        contradiction: contradiction?.what ?? null,
        problem,
        ...sweepOf(audit.sweep.progress()),
      };
    }),
    reading('audit key', noQuery, async () => ({ vkeys: audit.vkeys(await origin()) })),
    reading('audit checkpoint', noQuery, async () => {
      const signed = await audit.log.readSigned();
      const note = signed === null ? null : servedNote(signed);
      if (signed === null || note === null) {
        throw new CommandRejected(
          'nothing_signed',
          'no checkpoint is signed yet; the service signs within 10 s',
        );
      }
      return { note, size: signed.size, origin: signed.origin, vkeys: audit.vkeys(signed.origin) };
    }),
    serving('audit file', file, async ({ path, size }) => {
      const parsed = parseTilePath(path);
      const signed = await audit.log.readSigned();
      const isWithin = size <= (signed?.size ?? 0);
      const bytes = parsed === null || !isWithin ? null : await audit.resources.read(parsed, size);
      if (bytes === null) throw new CommandRejected('not_found', `the signed log has no ${path}`);
      return bytes;
    }),
    changing('audit restart', restart, async ({ reason }, context) => {
      const signed = await audit.log.readSigned();
      const id = await commands.restartAuditLog(
        { previousNote: signed === null ? null : servedNote(signed), reason },
        context,
      );
      const next = originOf({ logId: await eventStore.logId(), restart: id });
      return { origin: next, vkeys: audit.vkeys(next), previous_size: signed?.size ?? 0 };
    }),
  ];

  /** The command line may run this without a service, which sequences nothing. */
  async function origin(): Promise<string> {
    const { log } = audit.log.status();
    if (log !== null) return originOf(log);
    const signed = await audit.log.readSigned();
    return signed?.origin ?? originOf({ logId: await eventStore.logId(), restart: null });
  }
}

function sweepOf({ running, finishedAt }: SweepProgress) {
  return { sweep_done: running?.done ?? null, sweep_finished_at: finishedAt?.toISOString() ?? null };
}
