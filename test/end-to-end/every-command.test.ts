import { join } from 'node:path';
import type { Command } from 'commander';
import test from 'ava';
import { program } from '../../src/cli/program.js';
import { givenDirectory, givenService, runCli } from '../support/servers/service-process.js';

/** Starts the service, or runs a program that prints by itself. */
const others = new Set(['serve', 'audit verify']);

const unknownId = '0196a000-0000-7000-8000-000000000001';

/** Arguments that name a new file or folder. */
const paths = new Set(['folder', 'file']);

/** Values for arguments and mandatory options, by name. Most name nothing that exists, so the command is refused. */
const values: Readonly<Record<string, string>> = {
  ...{ email: 'nobody@example.org', account: 'nobody@example.org', id: unknownId, order: unknownId },
  ...{ projectId: unknownId, nodeId: unknownId, entitlement: 'allow_s3', endpoint: 'none', name: 'users' },
  ...{
    ring: 'jwt',
    kid: 'none',
    shell: 'bash',
    address: '192.0.2.1',
    reason: 'unknown_order',
    action: 'dismiss',
  },
  ...{ note: 'a test', evidence: 'a test', 'received-before': '2026-01-02T00:00:00Z' },
  ...{ provider: 'alipay', from: '2026-01-02T00:00:00Z' },
};

/** The further words without which a command is a wrong usage. */
const further: Readonly<Record<string, readonly string[]>> = {
  'payments record': ['--failed'],
  'projection prune': ['--yes'],
  'keys retire': ['--force'],
};

/** Returns every command without commands below it, as the words that run it. */
function everyCommand(scratch: string): readonly (readonly [name: string, words: readonly string[]])[] {
  return visit(program, []);

  function visit(
    command: Command,
    path: readonly string[],
  ): readonly (readonly [string, readonly string[]])[] {
    if (command.commands.length > 0) {
      return command.commands.flatMap((child) => visit(child, [...path, child.name()]));
    }
    const name = path.join(' ');
    const args = command.registeredArguments
      .filter(({ required }) => required)
      .map((argument) =>
        paths.has(argument.name()) ? join(scratch, name.replaceAll(' ', '-')) : valueOf(argument.name()),
      );
    const options = command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap(({ long }) => [long ?? '', valueOf((long ?? '').slice(2))]);
    return [[name, [...path, ...args, ...options, ...(further[name] ?? [])]]];
  }
}

function valueOf(name: string): string {
  const value = values[name];
  if (value === undefined) throw new Error(`the test needs a value for ${name}`);
  return value;
}

/** Parses JSON; undefined for other text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

test('Every command prints its result or its refusal as JSON with --json, and as text without it', async (t) => {
  const { directory } = await givenService(t);
  const scratch = givenDirectory(t);
  const commands = everyCommand(scratch).filter(([name]) => !others.has(name));
  t.true(commands.length > 45, `${commands.length} commands`);
  let succeeded = 0;
  for (const [name, words] of commands) {
    const { code, stdout, stderr } = await runCli(directory, [...words, '--json']);
    const said = code === 0 ? stdout : stdout === '' ? stderr : stdout;
    const parsed = parse(said);
    t.true(typeof parsed === 'object' && parsed !== null, `${name}: ${code} ${said}`);
    if (code === 0) succeeded += 1;
    else t.deepEqual(Object.keys(parsed as object), ['code', 'message'], `${name}: ${said}`);
  }
  t.true(succeeded > 10, `${succeeded} succeeded`);
  for (const words of [
    ['status'],
    ['projection', 'list'],
    ['user', 'list'],
    ['user', 'show', 'x@example.org'],
  ]) {
    const { stdout, stderr } = await runCli(directory, words);
    t.is(parse(stdout === '' ? stderr : stdout), undefined, words.join(' '));
  }
});
