/*
 * The document of a real service under three validators that are not the service's. Each must find nothing, also no warning. A
 * validator that cannot be installed is skipped by name.
 */
import { execFile } from 'node:child_process';
import { pluck } from '../support/given/pluck.js';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { succeedTogether } from '../support/servers/foreign-programs.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { suite } from '../support/suite.js';

const run = promisify(execFile);
const root = mkdtempSync(join(tmpdir(), 'openapi-validators-'));
const document = join(root, 'openapi.json');
const ruleset = join(root, 'spectral.yaml');
const bin = join(root, 'node_modules', '.bin');
const python = join(root, 'python', 'bin');

const npmInstall = ['install', '--prefix', root, '--no-save', '--ignore-scripts', '--no-audit'];
const [hasNode = false, hasPython = false] = succeedTogether([
  [{ run: ['npm', ...npmInstall, '@redocly/cli@2.77.0', '@stoplight/spectral-cli@6.16.3'], seconds: 240 }],
  [
    { run: ['python3', '-m', 'venv', join(root, 'python')], seconds: 60 },
    { run: [join(python, 'pip'), 'install', '--quiet', 'openapi-spec-validator==0.9.0'], seconds: 180 },
  ],
]);

test.before(async () => {
  const service = await startInProcess({ directory: join(root, 'data') });
  const reply = await fetch(`${service.url}/openapi.json`);
  writeFileSync(document, await reply.text());
  writeFileSync(ruleset, 'extends: ["spectral:oas"]\n');
  await service.close();
});

test.after.always(() => rmSync(root, { recursive: true, force: true }));

suite(test, hasNode ? null : 'npm cannot install them', 'Redocly and spectral', () => {
  test('Redocly finds no problem', async (t) => {
    const args = ['lint', '--extends=recommended', '--format=json', document];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { stdout } = await run(join(bin, 'redocly'), args, { cwd: root, env, timeout: 120_000 });
    const { problems } = JSON.parse(stdout) as { readonly problems: readonly { readonly message: string }[] };
    t.deepEqual(pluck(problems, 'message'), []);
  });

  test('Spectral finds no problem', async (t) => {
    const args = ['lint', '--ruleset', ruleset, '--fail-severity=hint', document];
    const { stdout } = await run(join(bin, 'spectral'), args, { cwd: root, timeout: 120_000 });
    t.regex(stdout, /^No results with a severity of 'hint' or higher found!/);
  });
});

suite(test, hasPython ? null : 'pip cannot install it', 'The validator openapi-spec-validator', () => {
  test('The validator openapi-spec-validator finds no problem', async (t) => {
    const { stdout } = await run(join(python, 'openapi-spec-validator'), [document], { timeout: 120_000 });
    t.regex(stdout, /: OK\s*$/);
  });
});
