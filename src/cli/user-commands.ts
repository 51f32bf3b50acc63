import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { readConfig } from '../config.js';
import type { ControlReply } from '../control/protocol.js';
import type { JsonValue } from '../event-sourcing/ports/domain-event.js';
import { withOperator } from './operator.js';

type Input = Readonly<Record<string, JsonValue>>;

/** What the commands print their results with, and parse numbers with. */
export interface UserCommandDeps {
  readonly operate: (operation: string, input: Input) => Promise<void>;
  readonly print: (reply: ControlReply) => void;
  readonly parseInteger: (text: string) => number;
}

/** The fields of `user show` that the question before an erasure names. */
const shownAccount = z.object({
  id: z.string(),
  email: z.string(),
  projects: z.array(z.object({ name: z.string() })),
});

/** Adds the commands on accounts: docs/operate.md#accounts. */
export function addUserCommands(program: Command, deps: UserCommandDeps): void {
  const { operate, parseInteger } = deps;
  const user = program.command('user').description('accounts');
  user
    .command('list')
    .description('all accounts, oldest first')
    .option('--limit <number>', 'how many at most', parseInteger, 50)
    .option('--cursor <text>', 'next_cursor of the page before')
    .action((page: { readonly limit: number; readonly cursor?: string }) =>
      operate('user list', { ...page }),
    );
  user
    .command('verify <email>')
    .description('count the address as proved to be the account’s')
    .action((email: string) => operate('user verify', { email }));
  for (const [name, description] of [
    ['show', 'the account with its sessions and projects'],
    ['sign-out', 'end all sessions of the account, at once'],
    ['reset-2fa', 'turn the second factor off, for a person who has lost it; a notice tells the person'],
    ['ban', 'end the sessions, API keys and invitations of the account, at once, and refuse every sign-in'],
    ['unban', 'let the account sign in again; its API keys stay revoked'],
  ] as const) {
    user
      .command(`${name} <account>`)
      .description(`${description}; <account>: its address or id`)
      .action((account: string) => operate(`user ${name}`, { account }));
  }
  user
    .command('erase <account>')
    .description(
      'delete the account, the data of the person, and the projects without another member; it cannot be undone',
    )
    .option('--yes', 'do not ask', false)
    .action((account: string, { yes }: { readonly yes: boolean }) => erase(account, yes, deps));
}

/** Erases an account after a question at the terminal. Without a terminal and without `--yes` it refuses. */
async function erase(account: string, yes: boolean, { print }: UserCommandDeps): Promise<void> {
  await withOperator(readConfig(), async (ask) => {
    const shown = await ask({ operation: 'user show', input: { account } });
    if (!shown.ok) {
      print(shown);
      return;
    }
    const { id, email, projects } = shownAccount.parse(shown.result);
    if (!yes && !(await confirmed(`${email} (${id}), in ${projects.length} projects`))) return;
    print(await ask({ operation: 'user erase', input: { user_id: id } }));
  });
}

/** Asks at the terminal. Sets the exit code to 2 where there is none, and to 1 where the answer is not yes. */
async function confirmed(what: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    process.stderr.write(`stowage: this erases ${what}, for good; confirm it with --yes\n`);
    process.exitCode = 2;
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`Erase ${what}, for good? Type yes: `);
    if (answer.trim().toLowerCase() === 'yes') return true;
  } finally {
    terminal.close();
  }
  process.stderr.write('stowage: nothing was erased\n');
  process.exitCode = 1;
  return false;
}
