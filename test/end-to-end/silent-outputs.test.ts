import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import test from 'ava';
import { eventually } from '../support/eventually.js';
import { cli, freePort, givenDirectory } from '../support/servers/service-process.js';

test('Neither a full disk under the log and the terminal nor a reader that stalls keeps the service from serving and ending', async (t) => {
  for (const outputs of ['> /dev/full 2> /dev/full', '2>&1 | sleep 300']) {
    // Given a service whose output goes nowhere
    const directory = givenDirectory(t);
    const port = await freePort();
    const shell = spawn('bash', ['-c', `"$NODE" "$CLI" serve ${outputs} & wait "$!"`], {
      detached: true,
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        NODE: process.execPath,
        CLI: cli,
        DATA_DIR: directory,
        PORT: String(port),
      },
    });
    t.teardown(() => {
      // The group: the shell, the service, and the reader that never reads.
      if (shell.pid !== undefined && isAlive(-shell.pid)) process.kill(-shell.pid, 'SIGKILL');
    });
    const health = `http://127.0.0.1:${port}/healthz`;
    const answers = () =>
      fetch(health).then(
        (reply) => reply.ok,
        () => false,
      );
    await eventually('the service answers', answers);
    // When it logs more than a pipe holds
    for (let n = 0; n < 20; n += 1) {
      const replies = await Promise.all(Array.from({ length: 20 }, answers));
      t.deepEqual(new Set(replies), new Set([true]));
    }
    // Then SIGTERM ends it all the same
    const pid = await pidOf(directory);
    process.kill(pid, 'SIGTERM');
    await eventually('the service ends', () => !isAlive(pid), { pid });
    t.false(await answers());
  }
});

/** Returns the process that holds the lock of a data directory. */
async function pidOf(directory: string): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const environment = await readFile(`/proc/${entry}/environ`, 'utf8').catch(() => '');
    const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    if (environment.includes(`DATA_DIR=${directory}\0`) && /cli\.js\0serve/.test(command)) {
      if (!command.startsWith('bash')) return Number(entry);
    }
  }
  throw new Error('the service does not run');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
