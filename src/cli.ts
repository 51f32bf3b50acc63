#!/usr/bin/env node
import { isExplained } from './cli/explained.js';
import { program } from './cli/program.js';

// Only this user may open databases, keys and the control socket, even if the mode of the directory permits more.
process.umask(0o077);

try {
  await program.parseAsync();
} catch (error) {
  if (!isExplained(error)) throw error;
  process.stderr.write(`stowage: ${error.message}\n`);
  process.exitCode = 1;
}
