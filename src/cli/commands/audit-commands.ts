import type { Command } from 'commander';
import { z } from 'zod';
import { type ExportSource, exportLog } from '../../areas/audit/history/export.js';
import { readConfig } from '../../config/config.js';
import type { ControlReply } from '../../operating/socket/protocol.js';
import { operate, operateWith, printResult } from '../operate.js';
import type { Ask } from '../operator.js';
import { makeProgressBar } from '../progress-bar.js';
import { addReplayCommand } from './replay-command.js';

const checkpointSchema = z.object({
  note: z.string(),
  size: z.int(),
  origin: z.string(),
  vkeys: z.array(z.string()),
});
const partSchema = z.object({ base64: z.string(), next: z.int().nullable() });

/** Adds the commands of the audit log (docs/audit.md). */
export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('the signed log; docs/audit.md');
  audit
    .command('status')
    .description('how far the log is sequenced, signed, cosigned and swept')
    .action(() => operate('audit status', {}));
  audit
    .command('key')
    .description(
      'the public keys of the checkpoints, as vkeys; auditors need them by a way that is not the service',
    )
    .action(() => operate('audit key', {}));
  audit
    .command('restart')
    .description('begin another origin after a contradiction; the log records it for ever')
    .requiredOption('--reason <text>', 'why; auditors read it')
    .action(({ reason }: { readonly reason: string }) => operate('audit restart', { reason }));
  audit
    .command('export <folder>')
    .description('write the signed log with its tiles into a folder; a second run adds what is new')
    .action((folder: string) => operateWith((ask) => exportInto(folder, ask)));
  audit
    .command('verify')
    .description('verify an export: the program stowage-verify with the same arguments')
    .argument('[args...]', '<folder or URL> --key <vkey file> [--kept <checkpoint or older export>] …')
    .allowUnknownOption()
    .helpOption(false)
    .action((args: readonly string[]) => verifyWith(args));
  addReplayCommand(audit, printResult);
}

/** The verifier reads its options itself, so that both ways of calling it are the same. */
async function verifyWith(args: readonly string[]): Promise<void> {
  const { runVerifier } = await import('../../areas/audit/verify.js');
  process.exitCode = await runVerifier(args, (line) => {
    process.stdout.write(`${line}\n`);
  });
}

async function exportInto(folder: string, ask: Ask): Promise<ControlReply> {
  // Wrong settings are reported before the folder is made.
  readConfig();
  const bar = makeProgressBar('exporting');
  try {
    const { origin, size } = await exportLog(folder, sourceOf(ask), bar.show);
    return { ok: true, result: { origin, size, folder } };
  } catch (error) {
    if (error instanceof Refused) return error.reply;
    throw error;
  } finally {
    bar.end();
  }
}

/** The service refused a part. */
class Refused extends Error {
  readonly reply: ControlReply & { readonly ok: false };
  constructor(reply: ControlReply & { readonly ok: false }) {
    super(reply.message);
    this.reply = reply;
  }
}

function sourceOf(ask: Ask): ExportSource {
  return {
    checkpoint: async () =>
      checkpointSchema.parse(await result({ operation: 'audit checkpoint', input: {} })),
    file: async (path, size) => {
      const parts: Buffer[] = [];
      for (let offset: number | null = 0; offset !== null;) {
        const reply: unknown = await result({ operation: 'audit file', input: { path, size, offset } });
        const { base64, next }: z.output<typeof partSchema> = partSchema.parse(reply);
        parts.push(Buffer.from(base64, 'base64'));
        offset = next;
      }
      return Buffer.concat(parts);
    },
  };

  async function result(request: Parameters<Ask>[0]): Promise<unknown> {
    const reply = await ask(request);
    if (!reply.ok) throw new Refused(reply);
    return reply.result;
  }
}
