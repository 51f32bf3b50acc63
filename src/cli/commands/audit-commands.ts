import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { type ExportSource, exportLog } from '../../areas/audit/history/export.js';
import { readConfig } from '../../config/config.js';
import { type OperatorReply, type OperatorRequest, readRequest } from '../../operating/socket/client.js';
import { done, operate, operateWith, printResult, show } from '../operate.js';
import type { Ask } from '../operator.js';
import { makeProgressBar } from '../terminal.js';
import { constants, setPriority } from 'node:os';
import type { Moment } from '../../areas/audit/history/history.js';
import { momentQuery } from '../../areas/audit/routes/audit-query.js';
import { fieldProblems } from '../../validation/zod-problems.js';

interface ReplayOptions {
  readonly into?: string;
  readonly resource?: string;
  readonly from?: string;
  readonly until?: Moment;
}

/** Adds the command that replays the log (docs/audit-history.md#replay). */
function addReplayCommand(audit: Command): void {
  audit
    .command('replay')
    .description(
      'replay the log, also while the service runs: build a data directory with all views, or show the history of one stream',
    )
    .option('--into <folder>', 'build the data directory in this folder, which is new or empty')
    .option('--resource <stream>', 'show the events of this stream in words, and its documents after them')
    .option('--from <export>', 'replay an export in place of the log of the service')
    .option('--until <time or index>', 'the last event that counts; without it the last one', parseMoment)
    .action(async (options: ReplayOptions, command: Command) => {
      const { into, resource, from, until = null } = options;
      if ((into === undefined) === (resource === undefined)) {
        command.error('stowage: name either --into <folder> or --resource <stream>', { exitCode: 2 });
      }
      const config = readConfig();
      const { openReplaySource } = await import('../../operating/replay/replay-source.js');
      // The service goes first.
      setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
      const source = await openReplaySource(config, from);
      const bar = makeProgressBar('replaying');
      const settings = { until, onShare: bar.show };
      try {
        if (resource === undefined) {
          const { replayInto } = await import('../../operating/replay/replay.js');
          const { streamPrefix } = config;
          printResult(await replayInto(source, into ?? '', { ...settings, streamPrefix }).finally(bar.end));
        } else {
          const { replayStream } = await import('../../operating/replay/replay-stream.js');
          printResult(await replayStream(source, { ...settings, stream: resource }).finally(bar.end));
        }
      } finally {
        await source.close();
      }
    });
}

function parseMoment(text: string): Moment {
  const parsed = momentQuery.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(
    fieldProblems(momentQuery, text)
      .map(({ problem }) => problem)
      .join('; '),
  );
}

const checkpointSchema = z.object({
  note: z.string(),
  size: z.int(),
  origin: z.string(),
  vkeys: z.array(z.string()),
});

/** Adds the commands of the audit log (docs/operate.md#commands). */
export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('the signed log; docs/audit.md');
  audit
    .command('status')
    .description('how far the log is sequenced, signed, cosigned and swept')
    .action(() => show('audit status'));
  audit
    .command('key')
    .description(
      'the public keys of the checkpoints, as vkeys; auditors need them by a way that is not the service',
    )
    .action(() => show('audit key'));
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
    .action((args: readonly string[]) => verifyWith(args));
  addReplayCommand(audit);
}

/** The verifier reads its options itself, so that both ways of calling it are the same. */
async function verifyWith(args: readonly string[]): Promise<void> {
  const { runVerifier } = await import('../../areas/audit/verify.js');
  process.exitCode = await runVerifier(args, (line) => process.stdout.write(`${line}\n`));
}

async function exportInto(folder: string, ask: Ask): Promise<OperatorReply> {
  // Wrong settings are reported before the folder is made.
  readConfig();
  const bar = makeProgressBar('exporting');
  try {
    const { origin, size } = await exportLog(folder, sourceOf(ask), bar.show);
    return done({ origin, size, folder });
  } catch (error) {
    if (error instanceof Refused) return error.reply;
    throw error;
  } finally {
    bar.end();
  }
}

/** The service refused a part. */
class Refused extends Error {
  readonly reply: OperatorReply & { readonly ok: false };
  constructor(reply: OperatorReply & { readonly ok: false }) {
    super(reply.message);
    this.reply = reply;
  }
}

function sourceOf(ask: Ask): ExportSource {
  return {
    checkpoint: async () => checkpointSchema.parse((await answer(readRequest('audit checkpoint'))).result),
    file: async (path, size) => (await answer(readRequest('audit file', { path, size }))).bytes,
  };

  async function answer(request: OperatorRequest): Promise<OperatorReply & { readonly ok: true }> {
    const reply = await ask(request);
    if (!reply.ok) throw new Refused(reply);
    return reply;
  }
}
