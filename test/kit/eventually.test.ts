import { spawn } from 'node:child_process';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../support/eventually.js';
import { cpuMsOf } from '../support/servers/process-costs.js';

test('A wait ends with the first thing that is there', async (t) => {
  const found = [undefined, null, false, 0];
  t.is(await eventually('a number', () => Promise.resolve(found.shift())), 0);
  t.deepEqual(found, []);
});

test('A wait that fails says what did not come about, after how many polls, at the line that waited', async (t) => {
  const error = await t.throwsAsync(
    eventually(
      () => 'The mail arrives',
      () => false,
      { polls: 3 },
    ),
  );
  t.regex(error.message, /^The mail arrives: this did not come about in 3 polls and [\d.]+ s of CPU$/);
  t.regex(error.stack ?? '', /^Error: The mail arrives.+\n +at .*eventually\.test\.[jt]s:\d+/);
});

test('A helper can leave the place of the failure to its caller', async (t) => {
  async function arrival(): Promise<void> {
    await eventually('The mail arrives', () => false, { polls: 1, at: arrival });
  }
  const error = await t.throwsAsync(arrival());
  t.notRegex(error.stack ?? '', /arrival/);
  t.regex(error.stack ?? '', /eventually\.test/);
});

test('A wait throws what the read throws', async (t) => {
  await t.throwsAsync(
    eventually('The mail arrives', () => {
      throw new Error('the mailbox is gone');
    }),
    { message: 'the mailbox is gone' },
  );
});

/** Starts Node with a script, which ends with the test. */
function startScript(t: ExecutionContext, script: string): number {
  const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  return child.pid ?? 0;
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('Polls count only while the watched process has nothing to run', async (t) => {
  // Given a process that works for half a second of CPU time, and then sleeps
  const script = 'while (process.cpuUsage().user < 5e5); setTimeout(() => 0, 600_000);';
  const pid = startScript(t, script);
  await eventually('the process runs', async () => (await cpuMsOf({ pid })) > 0);
  // When a test waits for something else, and gives up after three polls
  const error = await t.throwsAsync(eventually('A second one', () => false, { pid, polls: 3 }));
  // Then it has waited until the process sleeps
  const [, polls, seconds] = /(\d+) polls and ([\d.]+) s/.exec(error.message) ?? [];
  t.true(Number(polls) > 3, error.message);
  t.true(Number(seconds) >= 0.3, error.message);
});
