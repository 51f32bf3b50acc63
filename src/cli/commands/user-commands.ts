import type { Command } from 'commander';
import { z } from 'zod';
import { type OperatorReply, changeRequest, readRequest } from '../../operating/socket/client.js';
import { asText, unlessConfirmed } from '../terminal.js';
import { operate, operateWith, sayOf, show, parseInteger } from '../operate.js';
import type { Ask } from '../operator.js';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';
import { exitCodes } from '../exit-codes.js';

const status = z.looseObject({
  ready: z.boolean(),
  process: z.string().nullable(),
  version: z.string(),
  reasons: z.array(z.string()),
  components: z.array(
    z.object({
      ...{ kind: z.string(), name: z.string(), state: z.string(), lag_seconds: z.number().nullable() },
      ...{ feeders: z.array(z.string()), problem: z.string().nullable() },
    }),
  ),
});

/** Adds the command that names each component of the service with its state. It ends with 75 while the service is not ready. */
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
  const { ready, process: id, version, reasons, components } = status.parse(result);
  const first =
    id === null
      ? 'No service runs on this data directory. Its stores answer.'
      : `Process ${id}, version ${version}, is ${ready ? '' : 'not '}ready.`;
  const table = components.map(({ kind, name, state, lag_seconds: lag, feeders }) => ({
    ...{ component: kind === 'store' ? name : `${kind} ${name}`, state },
    ...{ lag: lag === null ? 'unknown' : `${lag} s`, feeders: kind === 'store' ? null : feeders },
  }));
  const problems = components.flatMap(({ kind, name, problem }) =>
    problem === null ? [] : [`${kind} ${name}: ${problem}`],
  );
  return [
    first,
    ...(id === null ? [] : reasons.map((reason) => `- ${reason}`)),
    ...['', asText(table, columns)],
    ...(problems.length === 0 ? [] : ['', 'Problems:', asText(problems, columns)]),
  ].join('\n');
}

/** The fields of `user show` that the question before an erasure names. */
const shownAccount = z.object({
  id: z.string(),
  email: z.string(),
  projects: z.array(z.object({ name: z.string() })),
});

/** `user show` lists at most so many projects. */
const shownMax = 100;

const changes = [
  ['show', 'the account with its sessions and projects'],
  ['sign-out', 'end all sessions of the account, at once'],
  [
    'reset-2fa',
    'remove all second factors, passkeys too, for a person who has lost them; it ends all sessions',
  ],
  [
    'restore-address',
    'put the former address back, for a person whose account was moved; it ends all sessions',
  ],
  ['ban', 'end the sessions, API keys and invitations of the account, at once, and refuse every sign-in'],
  ['unban', 'let the account sign in again; its API keys stay revoked'],
] as const;

/** Adds the commands on accounts: docs/operate.md#accounts. */
export function addUserCommands(program: Command): void {
  const user = program
    .command('user')
    .description(
      'accounts; <account> is the address, the id, or a former address that can still be put back',
    );
  user
    .command('list')
    .description('all accounts, oldest first')
    .option('--limit <number>', 'how many at most', parseInteger, 50)
    .option('--cursor <text>', 'next_cursor of the page before')
    .action((page: { readonly limit: number; readonly cursor?: string }) => show('user list', { ...page }));
  user
    .command('verify <email>')
    .description('count the address as proved to be the account’s')
    .action((email: string) => operate('user verify', { email }));
  for (const [name, description] of changes) {
    user
      .command(`${name} <account>`)
      .description(description)
      .action((account: string) =>
        name === 'show' ? show('user show', { account }) : operate(`user ${name}`, { account }),
      );
  }
  user
    .command('erase <account>')
    .description(
      'delete the account, the data of the person, and the projects without another member; it cannot be undone',
    )
    .option('--yes', 'do not ask', false)
    .action((account: string, { yes }: { readonly yes: boolean }) =>
      operateWith((ask) => erase(account, yes, ask), sayOf('user erase')),
    );
}

/** Erases an account after a question at the terminal. Without a terminal and without `--yes` it refuses. */
async function erase(account: string, yes: boolean, ask: Ask): Promise<OperatorReply> {
  const shown = await ask(readRequest('user show', { account }));
  if (!shown.ok) return shown;
  const { id, email, projects } = shownAccount.parse(shown.result);
  const least = projects.length < shownMax ? '' : 'at least ';
  const what = `${email} (${id}), with ${least}${projects.length} projects`;
  const texts = {
    question: `Erase ${what} for good?`,
    does: `erases ${what} for good`,
    nothing: 'nothing was erased',
  };
  const refusal = yes ? null : await unlessConfirmed(texts);
  return refusal ?? ask(changeRequest('user erase', { user_id: id }));
}
