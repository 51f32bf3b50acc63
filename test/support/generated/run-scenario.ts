import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ExecutionContext } from 'ava';
import { signStandard } from '../clients/sign-callbacks.js';
import { eventually } from '../eventually.js';
import { givenFakeStorage } from '../fakes/fake-storage.js';
import { freePort, makeDataDirectory, runCli, startService } from '../servers/service-process.js';

/** What a generated client reports at the end. */
export interface ScenarioResult {
  readonly email: string;
  readonly project: string;
  readonly storage: string;
  readonly asset: string;
  /** The code of the refusal of a wrong share password. */
  readonly refused: string;
  readonly media: string;
  readonly order: string;
}

/** Starts a served process on embedded stores, with a bucket and a payment platform. */
export async function givenScenario(t: ExecutionContext) {
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const bucket = await givenFakeStorage(t);
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const environment = {
    SMTP_URL: 'log:',
    STORAGE_ALLOWED_CIDRS: '127.0.0.0/8',
    PAYMENT_STANDARD_WEBHOOK_SECRETS: secret,
  };
  const service = await startService({ directory: directory.path, port: await freePort(), environment });
  t.teardown(() => service.kill());

  /** Returns the code that was mailed to the address, which means that the service logged it. */
  function code(email: string): Promise<string> {
    return eventually(`a code is mailed to ${email}`, () => {
      const line = service
        .output()
        .split('\n')
        .findLast((text) => text.includes(`"to":"${email}"`));
      return /\b\d{6}\b/.exec(line ?? '')?.[0];
    });
  }

  async function entitle(projectId: string): Promise<string> {
    const { code: exit, stderr } = await runCli(service.directory, [
      'project',
      'grant',
      projectId,
      'allow_s3',
    ]);
    if (exit !== 0) throw new Error(stderr);
    return 'granted';
  }

  async function pay(number: string): Promise<string> {
    const data = { order_number: number, transaction_id: `tx-${number}`, amount: 999, currency: 'USD' };
    const at = new Date();
    const message = { type: 'payment.paid', timestamp: at.toISOString(), data };
    const { headers, body } = signStandard(message, { id: `msg-${number}`, secret, at });
    const path = '/api/v1/payment/webhooks/standard';
    const reply = await fetch(`${service.url}${path}`, { method: 'POST', headers, body });
    if (reply.status !== 200) throw new Error(`the callback was answered ${reply.status}`);
    return 'paid';
  }

  const helpers: Readonly<Record<string, (argument: string) => Promise<string>>> = { code, entitle, pay };

  return {
    url: service.url,
    bucket,
    /** Runs a program that writes questions and reads answers, a line each, until it writes `done` and its result. */
    run: async (
      email: string,
      {
        command,
        args,
        folder,
      }: { readonly command: string; readonly args: readonly string[]; readonly folder: string },
    ): Promise<ScenarioResult> => {
      const child = spawn(command, args, {
        cwd: folder,
        env: {
          ...{ PATH: process.env['PATH'], HOME: process.env['HOME'] },
          ...{ STOWAGE_URL: service.url, EMAIL: email, BUCKET_ENDPOINT: `http://127.0.0.1:${bucket.port}` },
        },
        stdio: ['pipe', 'pipe', 'pipe'],
        timeout: 180_000,
        killSignal: 'SIGKILL',
      });
      const [errors, closed] = [[] as string[], once(child, 'close')];
      child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
      // A program that ended reads no answer.
      child.stdin.on('error', () => undefined);
      let result: ScenarioResult | null = null;
      try {
        for await (const line of createInterface({ input: child.stdout })) {
          const [, name = '', argument = ''] = /^(\w+) (.*)$/.exec(line) ?? [];
          const help = helpers[name];
          if (name === 'done') result = JSON.parse(argument) as ScenarioResult;
          else if (help === undefined) throw new Error(`the program wrote: ${line}`);
          else child.stdin.write(`${await help(argument)}\n`);
        }
      } finally {
        child.stdin.end();
        child.kill('SIGKILL');
      }
      await closed;
      if (result === null) throw new Error(`the program ended before it was done: ${errors.join('')}`);
      return result;
    },
  };
}
