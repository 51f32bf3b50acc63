import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { runCli } from '../support/servers/service-process.js';
import { givenDirectory } from '../support/directories.js';

const run = promisify(execFile);

/** Returns whether the machine has the shell. */
function has(shell: string): boolean {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0;
}

async function scriptOf(t: ExecutionContext, shell: string): Promise<string> {
  const { code, stdout, stderr } = await runCli(givenDirectory(t), ['completion', shell]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

test('Bash completes commands, and the options of the command that is typed', async (t) => {
  if (!has('bash')) {
    t.pass('no bash on this machine');
    return;
  }
  const script = await scriptOf(t, 'bash');
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const set = `COMP_WORDS=(stowage "$@"); COMP_CWORD=${words.length}; _stowage; printf '%s\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run('bash', ['-c', `${script}\n${set}`, 'bash', ...words]);
    return stdout.trim().split('\n');
  };
  t.deepEqual(await complete('comp'), ['completion']);
  t.deepEqual(await complete('node', 'd'), ['drain']);
  t.deepEqual(await complete('projection', 'rebuild', 'users', '--w'), ['--wait']);
  t.true((await complete('user', '')).includes('sign-out'));
  t.true((await complete('user', 'list', '--')).includes('--json'));
});

for (const shell of ['zsh', 'fish']) {
  test(`The script for ${shell} is one that ${shell} can read`, async (t) => {
    const script = await scriptOf(t, shell);
    t.regex(script, /" user" *\)|case " user"/);
    if (!has(shell)) {
      t.log(`no ${shell} on this machine; its parser has not read the script`);
      return;
    }
    const { status, stderr } = spawnSync(shell, ['-n', '-c', script], { encoding: 'utf8' });
    t.is(status, 0, stderr);
  });
}

test('In fish, a command with commands below it offers no files, and a command that takes a folder does', async (t) => {
  const script = await scriptOf(t, 'fish');
  t.regex(script, /complete -c stowage -f -n/);
  if (!has('fish')) {
    t.log('no fish on this machine; it has not run the script');
    return;
  }
  const offered = (line: string): readonly string[] =>
    spawnSync('fish', ['-c', `${script}\ncomplete -C '${line}'`], { encoding: 'utf8' })
      .stdout.trim()
      .split('\n');
  t.deepEqual(offered('stowage no'), ['node']);
  t.true(offered('stowage backup ').includes('package.json'));
});

test('Another shell is a wrong usage, which --json reports as JSON', async (t) => {
  const { code, stderr } = await runCli(givenDirectory(t), ['completion', 'tcsh', '--json']);
  t.is(code, 2);
  t.is((JSON.parse(stderr) as { code: string }).code, 'usage');
});
