import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);

/** Runs work in a separate folder, which is removed afterwards. */
export async function withScratchFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs packages, which the project does not depend on. @returns whether the registry had them */
export async function installPackages(folder: string, packages: readonly string[]): Promise<boolean> {
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, ...packages];
  return run('npm', args, { timeout: 300_000 }).then(
    () => true,
    () => false,
  );
}
