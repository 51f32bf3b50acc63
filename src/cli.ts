#!/usr/bin/env -S node --enable-source-maps
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

/** The service has about 60 files open at rest, and each connection needs another. */
const filesMin = 512;

// Only this user may open databases, keys and the control socket, even if the mode of the directory permits more.
process.umask(0o077);

keepCompiledCode();

// The rest of the program loads after this check, because Node's loader opens its files side by side.
const filesMax = openFilesMax();
if (filesMax < filesMin) {
  process.stderr.write(
    `stowage: this process may open ${filesMax} files, and needs ${filesMin} (1,200 for 1,000 connections). Raise the limit: ` +
      '`ulimit -n 4096`, LimitNOFILE of systemd, or --ulimit nofile of a container\n',
  );
  process.exitCode = 1;
} else {
  const { runCommand } = await import('./cli/program.js');
  await runCommand();
}

/** Returns the limit of open files, which Node has raised as far as it may; infinity where the system does not tell it. */
function openFilesMax(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    // Only Linux has this file.
    return Infinity;
  }
}

/**
 * Lets later starts read the compiled code of this one, which takes a fifth less CPU. The folder is beside the program: who can write
 * there can change the program too. Node does without where it cannot write, and before its release 22.
 */
function keepCompiledCode(): void {
  const { enableCompileCache }: { enableCompileCache?: (folder?: string) => unknown } & typeof module =
    module;
  // Node's own variable, which its threads read too, may name another folder.
  // eslint-disable-next-line no-restricted-properties -- it is no setting of the service
  const folder = (process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'compile-cache'));
  enableCompileCache?.(folder);
}
