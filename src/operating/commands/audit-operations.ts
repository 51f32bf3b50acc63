import { z } from 'zod';
import { originOf, servedNote, summaryOf } from '../../areas/audit/signing/audit-records.js';
import type { AuditLog } from '../../areas/audit/signing/audit-log.js';
import { witnessProblem } from '../../areas/audit/signing/witnesses.js';
import type { LogResources } from '../../areas/audit/history/log-resources.js';
import type { SweepProgress } from '../../areas/audit/signing/sweep.js';
import { parseTilePath } from '../../areas/audit/tree/tile-paths.js';
import type { Commands } from '../../areas/commands.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { CommandRejected } from '../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import { defineOperation, type Operation } from '../socket/operation.js';

const nothing = z.strictObject({});
const restart = z.strictObject({ reason: z.string().trim().min(1).max(500) });
const part = z.strictObject({ path: z.string(), size: z.int().positive(), offset: z.int().nonnegative() });

/** The bytes of one reply. In base64 they fit into a line of the control socket. */
const partBytes = 512 * 1024;

/** Makes the operations of the audit log (src/areas/audit/README.md#audit-log). */
export function makeAuditOperations(
  {
    audit,
    commands,
    eventStore,
  }: {
    readonly audit: {
      readonly log: Pick<AuditLog, 'status' | 'readSigned'>;
      readonly sweep: { readonly progress: () => SweepProgress };
      readonly resources: Pick<LogResources, 'read'>;
      readonly vkeys: (origin: string) => readonly string[];
    };
    readonly commands: Pick<Commands, 'restartAuditLog'>;
    readonly eventStore: Pick<EventStore, 'logId'>;
  },
  context: () => CommandContext,
): readonly Operation[] {
  return [
    defineOperation('audit status', nothing, async () => {
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
    defineOperation('audit key', nothing, async () => ({ vkeys: [...audit.vkeys(await origin())] })),
    defineOperation('audit checkpoint', nothing, async () => {
      const signed = await audit.log.readSigned();
      const note = signed === null ? null : servedNote(signed);
      if (signed === null || note === null) {
        throw new CommandRejected(
          'nothing_signed',
          'no checkpoint is signed yet; the service signs within 10 s',
        );
      }
      return { note, size: signed.size, origin: signed.origin, vkeys: [...audit.vkeys(signed.origin)] };
    }),
    // One part of a file; the command line requests parts until `next` is null.
    defineOperation('audit file', part, async ({ path, size, offset }) => {
      const parsed = parseTilePath(path);
      const signed = await audit.log.readSigned();
      const isWithin = size <= (signed?.size ?? 0);
      const bytes = parsed === null || !isWithin ? null : await audit.resources.read(parsed, size);
      if (bytes === null) throw new CommandRejected('not_found', `the signed log has no ${path}`);
      const end = offset + partBytes;
      return {
        base64: bytes.subarray(offset, end).toString('base64'),
        next: end < bytes.length ? end : null,
      };
    }),
    defineOperation('audit restart', restart, async ({ reason }) => {
      const signed = await audit.log.readSigned();
      const id = await commands.restartAuditLog(
        { previousNote: signed === null ? null : servedNote(signed), reason },
        context(),
      );
      const next = originOf({ logId: await eventStore.logId(), restart: id });
      return { origin: next, vkeys: [...audit.vkeys(next)], previous_size: signed?.size ?? 0 };
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
