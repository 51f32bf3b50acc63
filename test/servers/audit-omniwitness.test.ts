/*
 * A real service whose checkpoints omniwitness cosigns, which is not the service's. Go builds it. The suite reports by name
 * when it cannot run here.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { packageFile } from '../../src/package-files.js';
import { originOf } from '../../src/areas/audit/signing/audit-records.js';
import { makeNoteSigner } from '../../src/areas/audit/tree/note.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { readWholeLog } from '../support/audit/audit-scene.js';
import { isSignedWith } from '../support/audit/polling-auditor.js';
import {
  addTotp,
  recover,
  asObject,
  type HeaderFields,
  makeServiceClient,
  textOf,
} from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { givenContext } from '../support/given/given-stores.js';
import { buildOmniwitness, startOmniwitness } from '../support/servers/foreign-programs.js';
import { startInProcess } from '../support/servers/service-in-process.js';

const root = mkdtempSync(join(tmpdir(), 'audit-omniwitness-'));
test.after.always(() => rmSync(root, { recursive: true, force: true }));
const program = buildOmniwitness(root);
const verifier = fileURLToPath(packageFile('dist/verify.js'));
const password = 'Correct-Horse-9';

/** Of the auditor: each sign-in uses one. */
const recoveryCodes: string[] = [];

/** Starts the service on a data directory, with an auditor in it. */
async function start(t: ExecutionContext, directory: string, witnessLine: string | null) {
  const witnesses = join(root, 'witnesses');
  if (witnessLine !== null) writeFileSync(witnesses, `${witnessLine}\n`);
  const environment = witnessLine === null ? {} : { AUDIT_WITNESSES: witnesses };
  const service = await startInProcess({ directory, environment });
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= service.close());
  t.teardown(close);
  const client = makeServiceClient(service.url);
  const register = (name: string) => client.register(`${name}@example.org`, password);
  let auditor: Promise<HeaderFields> | null = null;
  const signIn = async (): Promise<HeaderFields> => {
    const { headers } = await client.login('auditor@example.org', password);
    await recover(client, headers, recoveryCodes.pop() ?? '');
    return headers;
  };
  const get = async (path: string): Promise<string> => {
    const headers = await (auditor ??= signIn());
    const reply = await client.get(path, headers);
    t.is(reply.status, 200, reply.text);
    return reply.text;
  };
  const status = async (): Promise<JsonObject> => JSON.parse(await get('/audit/status')) as JsonObject;
  /** Waits until everything is signed, and cosigned where there is a witness. Returns the size. */
  const cosigned = async (): Promise<number> => {
    const { log } = service.services.audit;
    await eventually('everything is signed and cosigned', async () => {
      const { length } = await readWholeLog(service.services.stores.eventStore);
      const sizes = [(await log.readSigned())?.size, ...log.status().witnesses.map(({ size }) => size)];
      return sizes.every((size) => size === length);
    });
    return (await log.readSigned())?.size ?? 0;
  };
  /** Waits for a contradiction. Checks the reports of it, and that nothing is signed. */
  const contradicted = async (): Promise<string> => {
    const { log } = service.services.audit;
    const before = await log.readSigned();
    await eventually('a contradiction', () => log.status().contradiction !== null);
    const { contradiction } = await status();
    t.like(contradiction, { source: 'witness witness.example/omniwitness' });
    t.regex(await service.metrics(), /^stowage_audit_contradiction 1$/m);
    t.deepEqual((await log.readSigned())?.note, before?.note);
    return textOf(asObject(contradiction), 'what');
  };
  return { service, client, register, signIn, get, status, cosigned, contradicted, close };
}

const saysOf = (what: string): string => `the witness witness.example/omniwitness ${what}`;

const withOmniwitness = program === null ? test.skip : test;

withOmniwitness(
  'Omniwitness, where Go can build it, cosigns a growing log, refuses forks and a roll-back, and the service reports each',
  async (t) => {
    t.timeout(300_000);
    if (program === null) return;
    // Given a log, and a witness that knows its key
    const data = join(root, 'data');
    const first = await start(t, data, null);
    const registered = await first.register('auditor');
    recoveryCodes.push(...(await addTotp(first.client, registered.headers)));
    await first.service.services.commands.verifyEmail(
      { email: 'auditor@example.org' },
      givenContext(1, new Date(), 'operator'),
    );
    await first.service.services.commands.grantPlatformRole(
      { email: 'auditor@example.org', role: 'auditor' },
      givenContext(2, new Date(), 'operator'),
    );
    await first.cosigned();
    const { services } = first.service;
    const origin = originOf({ logId: await services.stores.eventStore.logId(), restart: null });
    const [vkey = ''] = services.audit.vkeys(origin);
    await first.close();
    const witness = await startOmniwitness(program, { origin, vkey });
    t.teardown(() => witness.close());
    const line = `${witness.vkey} ${witness.url}`;
    const lastAnswer = () => witness.answers.at(-1);

    // When the log grows, the witness cosigns each checkpoint
    const growing = await start(t, data, line);
    const oldSize = await growing.cosigned();
    await growing.register('ben');
    t.true((await growing.cosigned()) > oldSize);
    const served = await growing.get('/audit/log/checkpoint');
    t.true(isSignedWith(served, vkey) && isSignedWith(served, witness.vkey));
    t.true(witness.answers.some(({ status }) => status === 200));
    // and the verifier of auditors accepts its cosignature, and misses that of another witness
    const headers = await growing.signIn();
    const [key, token] = [join(root, 'key'), join(root, 'token')];
    writeFileSync(key, `${vkey}\n`);
    writeFileSync(token, `${(headers['authorization'] ?? '').replace('Bearer ', '')}\n`);
    const verify = async (witnessKey: string): Promise<{ readonly code: unknown; readonly text: string }> => {
      writeFileSync(join(root, 'witness-key'), `${witnessKey}\n`);
      const args = [verifier, `${growing.service.url}/audit/log`, '--key', key, '--token', token];
      const more = ['--witness', join(root, 'witness-key'), '--quorum', '1'];
      return new Promise((done) => {
        execFile(process.execPath, [...args, ...more], (error, stdout, stderr) => {
          done({ code: error === null ? 0 : error.code, text: `${stdout}${stderr}` });
        });
      });
    };
    const good = await verify(witness.vkey);
    t.is(good.code, 0, good.text);
    const stranger = makeNoteSigner('witness.example/stranger', Buffer.alloc(32, 9)).vkey;
    t.not((await verify(stranger)).code, 0);
    const backupSize = await growing.cosigned();
    await growing.close();
    const backups = ['rolled-back', 'forked', 'forked-beyond'].map((name) => join(root, name));
    for (const backup of backups) cpSync(data, backup, { recursive: true });
    const [rolledBack = '', forked = '', forkedBeyond = ''] = backups;
    const last = await start(t, data, line);
    await last.register('cleo');
    const newSize = await last.cosigned();
    await last.close();

    // When log and state are rolled back
    const back = await start(t, rolledBack, line);
    t.is(
      await back.contradicted(),
      saysOf(`has cosigned ${newSize} events, and the last checkpoint has ${backupSize}`),
    );
    t.deepEqual(lastAnswer(), { status: 409, text: `${newSize}\n` });
    await back.close();

    // When a backup goes on with other events under the same key, up to the size that the witness has seen, and beyond it
    const goOn = async (directory: string, ...names: readonly string[]): Promise<number> => {
      const unseen = await start(t, directory, null);
      for (const name of names) await unseen.register(name);
      const size = await unseen.cosigned();
      await unseen.close();
      return size;
    };
    t.is(await goOn(forked, 'dana'), newSize);
    const fork = await start(t, forked, line);
    t.is(await fork.contradicted(), saysOf(`has cosigned another root of ${newSize} events`));
    t.deepEqual(lastAnswer(), { status: 409, text: '' });
    await fork.close();
    const longerSize = await goOn(forkedBeyond, 'eva', 'finn');
    const beyond = await start(t, forkedBeyond, line);
    t.is(
      await beyond.contradicted(),
      saysOf(`has seen another history: it refuses the consistency proof to ${longerSize} events`),
    );
    t.deepEqual(lastAnswer(), { status: 422, text: '' });
    await beyond.close();
    t.log(
      witness.answers.map(({ status, text }) => `${status} ${status === 200 ? '' : text.trim()}`).join(', '),
    );
  },
);
