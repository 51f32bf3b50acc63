import { constants, setPriority } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import type { Moment } from '../../areas/audit/history/history.js';
import { readConfig } from '../../config/config.js';
import { momentQuery } from '../../areas/audit/routes/audit-query.js';
import { fieldProblems } from '../../validation/zod-problems.js';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';
import { makeProgressBar } from '../progress-bar.js';

interface ReplayOptions {
  readonly into?: string;
  readonly resource?: string;
  readonly from?: string;
  readonly until?: Moment;
}

/**
 * Adds the command that replays the log (docs/audit-history.md#replay).
 * @param print writes the result of a command
 */
export function addReplayCommand(audit: Command, print: (result: JsonValue) => void): void {
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
          print(await replayInto(source, into ?? '', { ...settings, streamPrefix }).finally(bar.end));
        } else {
          const { replayStream } = await import('../../operating/replay/replay-stream.js');
          print(await replayStream(source, { ...settings, stream: resource }).finally(bar.end));
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
