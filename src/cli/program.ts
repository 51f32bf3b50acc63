import { Command, CommanderError } from 'commander';
import { readConfig } from '../config/config.js';
import { codeOf } from '../kit/errors.js';
import { version } from '../version.js';
import { addAuditCommands } from './commands/audit-commands.js';
import { addCompletionCommand } from './commands/completion-command.js';
import { addBackupCommands } from './commands/backup-commands.js';
import { addNodeCommands } from './commands/node-commands.js';
import { exitCodes, isExplained } from './exit-codes.js';
import { operate, printError, printJson, printResult, show } from './operate.js';
import { addProjectionCommands, addWebhookCommands } from './commands/projection-commands.js';
import { addPaymentCommands } from './commands/payment-commands.js';
import { addStatusCommand, addUserCommands } from './commands/user-commands.js';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { readKeyFile, readOrMakeKeyFile } from '../keys/rings/key-file.js';

/**
 * Makes the file that `KEYS_FILE` names, with mode 0600. A file that exists stays as it is, so every start of a
 * deployment may run this.
 * @throws KeyProblem when the file is no key file, or other users may read it
 */
function initKeys(file: string): { readonly file: string; readonly made: boolean } {
  const path = resolve(file);
  const made = readKeyFile(path) === null;
  readOrMakeKeyFile(path, randomBytes);
  return { file: path, made };
}

/** The command line. It runs nothing before `parseAsync`; docs/operate.md#commands lists its commands. */
export const program = new Command('stowage')
  .description(
    'Stowage, the service and its operators’ commands. Commands find a running service through the socket in DATA_DIR; ' +
      'where none runs they open the stores themselves. Exit codes: 0 done, 1 failed, 2 wrong usage, 75 the service or a ' +
      'store is away, try again.',
  )
  .version(version)
  .option('--json', 'print JSON in place of text, errors too')
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({
    // The parser reports a mistake before it has read all options.
    outputError: (text, write) => {
      if (!process.argv.includes('--json')) {
        write(text);
        return;
      }
      write(`${JSON.stringify({ code: 'usage', message: text.replace(/^error: /, '').trim() })}\n`);
    },
  })
  // Errors of usage are thrown, and `runCommand` chooses their exit code. Each command below inherits this.
  .exitOverride()
  .hook('preAction', (root) => printJson(root.opts<{ readonly json?: boolean }>().json ?? false));

program
  .command('serve')
  .description('start the service')
  .action(async () => {
    const config = readConfig();
    const { serve } = await import('../main.js');
    process.exitCode = await serve(config).catch((error: unknown) => {
      if (!isExplained(error)) throw error;
      printError(error);
      return exitCodes.failed;
    });
  });

addStatusCommand(program);

for (const role of ['operator', 'auditor'] as const) {
  const roles = program.command(role).description(`the platform role ${role}`);
  roles
    .command('grant <email>')
    .description(`make the account with this address an ${role}`)
    .action((email: string) => operate('platform-role grant', { email, role }));
  roles
    .command('revoke <email>')
    .description('take the role from the account with this address, at once')
    .action((email: string) => operate('platform-role revoke', { email, role }));
}

addUserCommands(program);

const project = program.command('project').description('projects');
for (const [name, description] of [
  ['grant', 'entitle a project; allow_s3: it may bind storages'],
  ['revoke', 'take back an operator’s grant; a paid order that grants the same still holds'],
] as const) {
  project
    .command(`${name} <projectId> <entitlement>`)
    .description(description)
    .action((projectId: string, entitlement: string) =>
      operate(`project ${name}`, { project_id: projectId, entitlement }),
    );
}

addNodeCommands(program);

addPaymentCommands(program);

addWebhookCommands(program);

addProjectionCommands(program);

addBackupCommands(program);
addAuditCommands(program);

const keys = program.command('keys').description('rotation of keys; docs/keys.md');
keys
  .command('init <file>')
  .description('make a file with every key, which KEYS_FILE names; it never changes a file that exists')
  .action((file: string) => printResult(initKeys(file)));
keys
  .command('list')
  .description('every ring with the ids of its keys; never a key')
  .action(() => show('keys list'));
keys
  .command('add <ring>')
  .description('add a key that only opens and verifies')
  .action((ring: string) => operate('keys add', { ring }));
keys
  .command('promote <ring> [kid]')
  .description('make a key the one that signs and seals; without an id the one that was added last')
  .option('--now', 'even if some process cannot have read it yet', false)
  .action((ring: string, kid: string | undefined, { now }: { now: boolean }) =>
    operate('keys promote', { ring, kid, now }),
  );
keys
  .command('retire <ring> <kid>')
  .description('remove a key that is no longer needed')
  .option('--force', 'even if it is still needed; never a master key that wraps data keys', false)
  .action((ring: string, kid: string, { force }: { force: boolean }) =>
    // For a pepper, the operation reads the whole log.
    operate('keys retire', { ring, kid, force }, 600_000),
  );
keys
  .command('rewrap')
  .description('wrap every data key with the active master key; may be repeated at any time')
  .action(() => operate('keys rewrap', {}, 600_000));

addCompletionCommand(program);

/** Runs the command that the arguments of the process name, and sets the exit code. */
export async function runCommand(): Promise<void> {
  // Without listeners, a reader that is gone or a full disk would end the command by a stack.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  // Each line of the log of a service fails again.
  process.stdout.once('error', (error) => {
    printError(new Error(`standard output cannot be written (${codeOf(error)})`));
  });
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // The parser has printed the help, the version or the mistake.
      process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    } else if (isExplained(error)) {
      printError(error);
    } else throw error;
  }
}
