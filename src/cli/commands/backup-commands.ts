import { constants, setPriority } from 'node:os';
import type { Command } from 'commander';
import { readConfig } from '../../config/config.js';
import { requireData } from '../exit-codes.js';
import { printResult } from '../operate.js';
import { makeProgressBar } from '../terminal.js';

/** Adds the commands that copy data away and back (docs/backup.md#backup). */
export function addBackupCommands(program: Command): void {
  program
    .command('backup <folder>')
    .description(
      'copy log, state and keys of the embedded stores into a new folder, also while the service runs',
    )
    .action(async (folder: string) => {
      const { backUp } = await import('../../operating/backup/backup.js');
      const bar = makeProgressBar('copying');
      // The service goes first.
      setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
      const made = await backUp(readConfig(), folder, { now: new Date(), onShare: bar.show }).finally(
        bar.end,
      );
      printResult({ ...made, files: made.files.map((file) => ({ ...file })) });
      if (made.keys_apart.length === 0) return;
      process.stderr.write(
        `stowage: the backup does not hold the keys of ${made.keys_apart.join(', ')}; keep them apart, because the data ` +
          'does not open without them\n',
      );
    });
  program
    .command('restore [folder]')
    .description(
      'restore a backup into an empty DATA_DIR; --check: compare log, state, keys and views, and change nothing',
    )
    .option('--check', 'report whether log, state, keys and views belong together', false)
    .action(async (folder: string | undefined, { check }: { readonly check: boolean }) => {
      if (check) {
        const config = readConfig();
        if (folder === undefined) requireData(config);
        const { checkRestored } = await import('../../operating/backup/check-restored.js');
        const bar = makeProgressBar('comparing');
        const report = await checkRestored(config, folder, bar.show).finally(bar.end);
        printResult(report);
        if (report.problems.length > 0) process.exitCode = 1;
        return;
      }
      if (folder === undefined)
        program.error('stowage: name the folder of a backup, or --check', { exitCode: 2 });
      const { restoreBackup } = await import('../../operating/backup/restore.js');
      const bar = makeProgressBar('restoring');
      const restored = await restoreBackup(readConfig(), folder, bar.show).finally(bar.end);
      printResult({
        ...restored,
        files: restored.files.map((file) => ({ ...file })),
        set_before_start: [...restored.set_before_start],
      });
      if (restored.set_before_start.length === 0) return;
      process.stderr.write(
        `stowage: before you start the service, set the keys that the data was made with: ${restored.set_before_start.join(', ')}\n`,
      );
    });
}
