/*
 * Clients that three generators make from the document of a served process. Each must compile under strict settings and complete
 * the scenario: register, project, storage, asset, share, order. A generator that cannot be installed is skipped by name.
 */
import { execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { succeedTogether } from '../support/servers/foreign-programs.js';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { signStandard } from '../support/clients/sign-callbacks.js';
import { eventually } from '../support/eventually.js';
import { givenFakeStorage } from '../support/fakes/fake-storage.js';
import { givenService, runCli } from '../support/servers/service-process.js';

const execute = promisify(execFile);
const repository = fileURLToPath(new URL('../../../', import.meta.url));
const programs = join(repository, 'test', 'support', 'generated');
const root = mkdtempSync(join(tmpdir(), 'generated-clients-'));
test.after.always(() => rmSync(root, { recursive: true, force: true }));

/** Runs a tool within three minutes. Its output is the message of a failure. */
async function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const options = { cwd, env: { ...process.env, ...env }, timeout: 180_000, maxBuffer: 64 * 2 ** 20 };
  return execute(command, args, options).catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${command}: ${stdout.slice(-4_000)}${stderr.slice(-4_000)}`, { cause: error });
  });
}

// All preparations fit into AVA's 5 minutes.
const python = join(root, 'python', 'bin');
const pythonPackages = ['openapi-python-client==0.29.1', 'mypy==2.4.1'];

const goTool = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const goEnvironment = { GOBIN: root, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
const goModule = 'module stowage.test\n\ngo 1.24\n\nrequire github.com/oapi-codegen/runtime v1.6.0\n';
const goFolder = join(root, 'go');
mkdirSync(goFolder);
writeFileSync(join(goFolder, 'go.mod'), goModule);
const [hasPython = false, hasGo = false] = succeedTogether([
  [
    { run: ['python3', '-m', 'venv', join(root, 'python')], seconds: 60 },
    { run: [join(python, 'pip'), 'install', '--quiet', ...pythonPackages], seconds: 120 },
  ],
  [
    { run: ['go', 'install', goTool], seconds: 120, env: goEnvironment },
    { run: ['go', 'mod', 'download'], seconds: 60, cwd: goFolder, env: goEnvironment },
  ],
]);

type Scenario = Awaited<ReturnType<typeof givenScenario>>;

/** Starts the service and writes its document into a folder. */
async function given(t: ExecutionContext, folder: string): Promise<Scenario & { readonly document: string }> {
  t.timeout(300_000);
  const scenario = await givenScenario(t);
  const reply = await fetch(`${scenario.url}/openapi.json`);
  t.is(reply.status, 200);
  const document = join(folder, 'openapi.json');
  writeFileSync(document, await reply.text());
  return { ...scenario, document };
}

/** Holds what a program reports, and what it uploaded. */
async function completes(
  t: ExecutionContext,
  scenario: Scenario,
  language: string,
  program: { readonly command: string; readonly args: readonly string[]; readonly folder: string },
): Promise<void> {
  const email = `${language.toLowerCase()}@example.org`;
  const media = `Rhine at dawn, by ${language}`;
  t.deepEqual(await scenario.run(email, program), {
    ...{
      email,
      project: 'Film',
      storage: 'active',
      asset: 'complete',
      refused: 'invalid_credentials',
      media,
    },
    order: 'fulfilled',
  });
  const stored = scenario.bucket.objects.get(`/rushes/${language.toLowerCase()}/rhine.mp4`);
  t.is(stored?.body.toString(), media);
}

test('The client of openapi-typescript and openapi-fetch compiles strictly and completes the scenario', async (t) => {
  // A folder in the repository finds openapi-fetch.
  const folder = mkdtempSync(join(repository, 'dist', 'generated-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const scenario = await given(t, folder);
  writeFileSync(
    join(folder, 'stowage.ts'),
    astToString(await openapiTypescript(readFileSync(scenario.document, 'utf8'))),
  );
  const program = readFileSync(join(programs, 'scenario.ts'), 'utf8');
  writeFileSync(join(folder, 'scenario.ts'), program.replace("'#client'", "'./stowage.js'"));
  const compilerOptions = { rootDir: '.', outDir: 'out', incremental: false, skipLibCheck: false };
  const settings = { extends: '../../tsconfig.json', compilerOptions, include: ['.'], exclude: ['out'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  await run(
    process.execPath,
    [join(repository, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'],
    folder,
  );
  const command = { command: process.execPath, args: [join('out', 'scenario.js')], folder };
  await completes(t, scenario, 'TypeScript', command);
});

const withPython = hasPython ? test : test.skip;
withPython(
  'The client of openapi-python-client, where PyPI has it, passes mypy --strict and completes the scenario',
  async (t) => {
    const folder = mkdtempSync(join(root, 'scenario-'));
    const scenario = await given(t, folder);
    // Without hooks the generator runs no formatter over its templates.
    writeFileSync(join(folder, 'config.yaml'), 'post_hooks: []\n');
    const settings = ['--config', 'config.yaml', '--meta', 'none', '--output-path', 'stowage'];
    await run(
      join(python, 'openapi-python-client'),
      ['generate', '--path', scenario.document, ...settings],
      folder,
    );
    copyFileSync(join(programs, 'scenario.py'), join(folder, 'scenario.py'));
    const { stdout } = await run(join(python, 'mypy'), ['--strict', 'stowage', 'scenario.py'], folder);
    t.regex(stdout, /^Success: no issues found in \d{3} source files$/m);
    const command = { command: join(python, 'python'), args: ['scenario.py'], folder };
    await completes(t, scenario, 'Python', command);
  },
);

const withGo = hasGo ? test : test.skip;
withGo(
  'The client of oapi-codegen, where Go can build it, passes go vet, builds, and completes the scenario',
  async (t) => {
    const scenario = await given(t, goFolder);
    const settings = {
      ...{ package: 'stowage', output: 'stowage/stowage.go', generate: { models: true, client: true } },
      compatibility: { 'always-prefix-enum-values': true },
    };
    mkdirSync(join(goFolder, 'stowage'));
    writeFileSync(join(goFolder, 'config.yaml'), JSON.stringify(settings));
    await run(join(root, 'oapi-codegen'), ['-config', 'config.yaml', scenario.document], goFolder);
    copyFileSync(join(programs, 'scenario.go'), join(goFolder, 'main.go'));
    await run('go', ['mod', 'tidy'], goFolder, goEnvironment);
    await run('go', ['vet', './...'], goFolder, goEnvironment);
    await run('go', ['build', '-o', 'scenario', '.'], goFolder, goEnvironment);
    const command = { command: join(goFolder, 'scenario'), args: [], folder: goFolder };
    await completes(t, scenario, 'Go', command);
  },
);

/** What a generated client reports at the end. */
interface ScenarioResult {
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
async function givenScenario(t: ExecutionContext) {
  const bucket = await givenFakeStorage(t);
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const environment = {
    SMTP_URL: 'log:',
    STORAGE_ALLOWED_CIDRS: '127.0.0.0/8',
    PAYMENT_STANDARD_WEBHOOK_SECRETS: secret,
  };
  const service = await givenService(t, { environment });

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
