import { readFileSync } from 'node:fs';
import test from 'ava';

/** The part of scripts/test-report.mjs that is tested here. */
interface Reporter {
  readonly emptyReport: () => Report;
  readonly addEvent: (report: Report, event: object, sources: () => readonly string[]) => void;
}
interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
  readonly stalled: readonly string[];
  readonly stopped: readonly string[];
}

const here = 'test/scripts/test-report.test.ts';

/** Returns the line of this file that an entry of a report names. */
function sourceLineOf(entry = ''): string | undefined {
  const [file, line] = entry.split(' › ')[0]?.split(':') ?? [];
  const source = readFileSync(new URL(`../../../${file ?? ''}`, import.meta.url), 'utf8');
  return source.split('\n')[Number(line) - 1]?.trim();
}

async function reportOf(...events: readonly object[]): Promise<Report> {
  const script = new URL('../../../scripts/test-report.mjs', import.meta.url).href;
  const { addEvent, emptyReport } = (await import(script)) as Reporter;
  const report = emptyReport();
  for (const event of events) addEvent(report, event, () => ['test/style.test.ts', here]);
  return report;
}

test('A failed assertion in a helper is reported at the line of the test that called it', async (t) => {
  // Given the stack of a failure in a helper, which a test of a group called
  const stack = `Error: x\n at help (/x/test/support/help.ts:7:3)\n at <anonymous> (/x/${here}:31:9)`;
  // When the test fails beside one that passes
  const failed = { type: 'test-failed', title: 'A title', testFile: 'group', err: { stack } };
  const report = await reportOf(failed, { type: 'test-passed', title: 'B', testFile: 'group' });
  // Then the failure names file, line and title
  t.deepEqual(report.failures, [`${here}:31 › A title`]);
  t.deepEqual([report.passed, report.failed], [1, 1]);
});

for (const kind of ['plain', 'made']) {
  test(`A failure without a stack is reported at the line of its ${kind} title`, async (t) => {
    const title = `A failure without a stack is reported at the line of its ${kind} title`;
    const { failures } = await reportOf({ type: 'test-failed', title, testFile: 'group', err: {} });
    t.regex(sourceLineOf(failures[0]) ?? '', /^test\(`A failure without a stack .* title`, async/);
  });
}

test('A stall names each test that had not ended, and is a failure', async (t) => {
  const title = 'A stall names each test that had not ended, and is a failure';
  const report = await reportOf({ type: 'timeout', period: 1, pendingTests: new Map([['group', [title]]]) });
  t.true(sourceLineOf(report.stalled[0])?.includes(title));
  t.is(report.failed, 1);
});

test('A run that is stopped names each test that had not ended, and has proved nothing of it', async (t) => {
  const title = 'A run that is stopped names each test that had not ended, and has proved nothing of it';
  const report = await reportOf({ type: 'stop', pendingTests: new Map([['group', [title]]]) });
  t.true(sourceLineOf(report.stopped[0])?.includes(title));
  t.deepEqual([report.failed, report.stalled], [0, []]);
});

test('A process that ends without a test is a failure of its files', async (t) => {
  const { failures } = await reportOf({ type: 'worker-failed', testFile: 'group' });
  t.deepEqual(failures, [`test/style.test.ts, ${here} › worker failed`]);
});
