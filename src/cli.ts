#!/usr/bin/env -S node --enable-source-maps
import { CommanderError } from 'commander';
import { exitCodes, isExplained } from './cli/exit-codes.js';
import { printError } from './cli/operate.js';
import { program } from './cli/program.js';

// Only this user may open databases, keys and the control socket, even if the mode of the directory permits more.
process.umask(0o077);

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
