import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { givenDirectory } from '../support/servers/service-process.js';
import { type ReceivedMail, startSmtpServer } from '../support/servers/smtp-server.js';

const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const rounds = Math.ceil(3 * Number(process.env['DEEP_BUDGET'] ?? '1'));
/**
 * The processes of a round, one after another. The first handles the rest of an earlier round. Of four processes with a
 * mail server three are killed at a mail, and the fourth handles their rest. It sends an unrecorded mail again, and no
 * code waits until it expires. The processes without a server are so many that codes do expire.
 */
const round = [
  'settles' as const,
  ...Array.from({ length: 4 }, () => ['killed', 'killed', 'killed', 'settles'] as const).flat(),
  ...Array.from({ length: 8 }, () => 'without a mail server' as const),
];
const kills = rounds * round.filter((fate) => fate === 'killed').length;
const codesEach = 4;
/**
 * The clock of each process is this far ahead of the one before it. So a claim has ended, and a code expires six
 * processes later. In milliseconds.
 */
const stepMs = 61_000;
const expiresInMs = 400_000;
/**
 * The longest time between sending a mail and its arrival on a busy machine, in milliseconds. Codes that wait for a
 * mail server over the end of a round have been expired for longer.
 */
const wayMsMax = 30_000;

const mailingProcess = fileURLToPath(new URL('../support/servers/mailing-process.js', import.meta.url));
const eventsSchema = z.array(
  z.object({ id: z.string(), stream: z.string(), type: z.string(), data: z.record(z.string(), z.unknown()) }),
);

interface Arrival {
  readonly mail: ReceivedMail;
  /** The time by the clock of the sending process. */
  readonly atMs: number;
}

test(`A kill -9 at ${kills} moments between sending a mail and recording it loses no mail and sends none too late`, async (t) => {
  t.timeout(30 * 60_000);
  const random = makeSeededRandom(seed);
  t.log(`DEEP_SEED=${seed}`);
  const directory = givenDirectory(t);
  const arrivals: Arrival[] = [];
  let aheadMs = 0;
  let killAfter = Infinity;
  let killsAtMail = 0;
  let child: ChildProcess | null = null;
  const smtp = await startSmtpServer({
    // The message has arrived. Its sender does not know it yet, or knows it and has no time to record it.
    onMessage: async (mail) => {
      arrivals.push({ mail, atMs: mail.at.getTime() + aheadMs });
      killAfter -= 1;
      if (killAfter === 0) {
        killsAtMail += 1;
        // Every second sender never learns of the acceptance, so it cannot record it.
        if (killsAtMail % 2 === 1) child?.kill('SIGKILL');
        else setTimeout(() => child?.kill('SIGKILL'), random() * 12);
      }
      return Promise.resolve(null);
    },
  });
  t.teardown(() => smtp.close());

  for (let n = 0; n < rounds * round.length; n += 1, aheadMs += stepMs) {
    const fate = round[n % round.length];
    const url = fate === 'without a mail server' ? 'smtp://127.0.0.1:1' : smtp.url;
    killAfter = fate === 'killed' ? 1 + Math.floor(random() * codesEach) : Infinity;
    child = start({ directory, url, aheadMs, firstCode: n * codesEach });
    if (fate === 'settles') {
      await settle(child);
      continue;
    }
    const exited = once(child, 'exit');
    if (fate === 'without a mail server') {
      await once(child.stdout ?? child, 'data');
      await delay(random() * 500);
    } else {
      await exited;
    }
    child.kill('SIGKILL');
    await exited;
  }

  killAfter = Infinity;
  child = start({ directory, url: smtp.url, aheadMs, firstCode: 0, codes: 0 });
  const events = await settle(child);
  // The time is read afterwards, because on a slow machine a code may expire while the last process starts.
  const nowMs = Date.now() + aheadMs;
  check(t, { events, arrivals, nowMs });
});

function start(options: {
  readonly directory: string;
  readonly url: string;
  readonly aheadMs: number;
  readonly firstCode: number;
  readonly codes?: number;
}): ChildProcess {
  const { directory, url, aheadMs, firstCode, codes = codesEach } = options;
  // Each process is a minute ahead of the one before, so what that one left without an answer is due.
  const waits = { MAIL_UNKNOWN_MS: '60000,60000,60000' };
  const args = [aheadMs, firstCode, codes, expiresInMs].map(String);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: tmpdir(),
    DATA_DIR: directory,
    SMTP_URL: url,
    ...waits,
  };
  return spawn(process.execPath, [mailingProcess, ...args], {
    env: { ...env, LOG_LEVEL: 'silent', MAIL_FROM: 'no-reply@stowage.example' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function settle(child: ChildProcess): Promise<z.infer<typeof eventsSchema>> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  child.stdin?.write('settle\n');
  await once(child, 'close');
  return eventsSchema.parse(JSON.parse(output.split('\n').find((line) => line.startsWith('[')) ?? 'null'));
}

function check(
  t: ExecutionContext,
  found: {
    readonly events: z.infer<typeof eventsSchema>;
    readonly arrivals: readonly Arrival[];
    readonly nowMs: number;
  },
): void {
  const { events, arrivals, nowMs } = found;
  const codesMailed = events.filter(({ type }) => type === 'LoginCodeMailed');
  const noticesMailed = events.filter(({ type }) => type === 'SecurityNoticeMailed');
  const sum = { asked: 0, mailed: 0, again: 0, expired: 0 };
  const known = new Set<string>();
  for (const { id, type, data } of events) {
    if (type !== 'LoginCodeIssued' && type !== 'PasswordChanged') continue;
    const messageId = `<${id}@stowage.example>`;
    known.add(messageId);
    // A notice is news for a day, which is longer than this test.
    const expiresMs = type === 'LoginCodeIssued' ? Date.parse(String(data['expires_at'])) : Infinity;
    const mails = arrivals.filter(({ mail }) => mail.email.messageId === messageId);
    const marks =
      type === 'LoginCodeIssued'
        ? codesMailed.filter((outcome) => outcome.data['issue_id'] === data['issue_id'])
        : noticesMailed.filter(({ stream }) => stream === `securitynotice-${id}`);
    sum.asked += 1;
    sum.mailed += marks.length;
    sum.again += Math.max(0, mails.length - 1);
    if (marks.length === 0) sum.expired += 1;
    t.true(marks.length <= 1, `${id} has ${marks.length} outcomes`);
    t.true(marks.length === 1 ? mails.length > 0 : expiresMs <= nowMs, `${id} is neither mailed nor expired`);
    // A repeated mail is the same mail.
    t.true(new Set(mails.map(({ mail }) => mail.email.text)).size <= 1);
    t.true(new Set(mails.map(({ mail }) => mail.to.join(','))).size <= 1);
    for (const { atMs } of mails)
      t.true(atMs <= expiresMs + wayMsMax, `${id} was sent ${atMs - expiresMs} ms too late`);
  }
  t.true(
    arrivals.every(({ mail }) => known.has(mail.email.messageId ?? '')),
    'every mail has its event',
  );
  t.log(JSON.stringify(sum));
  t.true(sum.again >= Math.floor(kills / 2), 'the kills hit the moment between sending and recording');
  t.true(sum.mailed > kills);
  t.true(sum.expired > 0, 'codes expired before a mail server was there');
}
