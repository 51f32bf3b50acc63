import type { Command } from 'commander';
import { z } from 'zod';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';
import { exitCodes } from '../exit-codes.js';
import { readRequest } from '../../operating/socket/client.js';
import { operateWith } from '../operate.js';
import { asText } from '../text.js';

const status = z.looseObject({
  ready: z.boolean(),
  process: z.string().nullable(),
  version: z.string(),
  reasons: z.array(z.string()),
  parts: z.array(
    z.object({
      ...{ kind: z.string(), name: z.string(), state: z.string(), lag_seconds: z.number().nullable() },
      ...{ fed_by: z.array(z.string()), problem: z.string().nullable() },
    }),
  ),
});

/** Adds the command that names each part of the service with its state. It ends with 75 while the service is not ready. */
export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('each store, view, reaction and task: its state, its lag, and the process that feeds it')
    .action(async () => {
      const seen = { isReady: true };
      await operateWith(async (ask) => {
        const reply = await ask(readRequest('status'));
        seen.isReady = !reply.ok || status.parse(reply.result).ready;
        return reply;
      }, statusText);
      if (!seen.isReady) process.exitCode = exitCodes.temporary;
    });
}

/** Returns the status as sentences and a table. A problem has a line below the table, because it is long. */
export function statusText(result: JsonValue, columns: number): string {
  const { ready, process: id, version, reasons, parts } = status.parse(result);
  const first =
    id === null
      ? 'No service runs on this data directory. Its stores answer.'
      : `Process ${id}, version ${version}, is ${ready ? '' : 'not '}ready.`;
  const table = parts.map(({ kind, name, state, lag_seconds: lag, fed_by: feeders }) => ({
    ...{ part: kind === 'store' ? name : `${kind} ${name}`, state },
    ...{ lag: lag === null ? 'unknown' : `${lag} s`, fed_by: kind === 'store' ? null : feeders },
  }));
  const problems = parts.flatMap(({ kind, name, problem }) =>
    problem === null ? [] : [`${kind} ${name}: ${problem}`],
  );
  return [
    first,
    ...(id === null ? [] : reasons.map((reason) => `- ${reason}`)),
    ...['', asText(table, columns)],
    ...(problems.length === 0 ? [] : ['', 'Problems:', asText(problems, columns)]),
  ].join('\n');
}
