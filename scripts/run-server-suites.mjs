// Runs the suites against servers in two passes, with the arguments of AVA: first those that measure, one file after the
// other, then the others, two files at a time. Ends with the status of the first pass that failed.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ava = join(import.meta.dirname, '..', 'node_modules', '.bin', 'ava');
const statuses = ['measuring', 'others'].map((pass) => {
  const env = { ...process.env, SERVER_SUITES: pass };
  const args = ['--config', 'ava.servers.config.js', ...process.argv.slice(2)];
  return spawnSync(ava, args, { env, stdio: 'inherit' }).status ?? 1;
});
process.exitCode = statuses.find((status) => status !== 0) ?? 0;
