import test from 'ava';

import { servedNote } from '../../../../src/areas/audit/signing/audit-records.js';
import { isSignedBy, makeNoteSigner, parseNote, parseVkey } from '../../../../src/areas/audit/tree/note.js';
import { type AuditProcess, auditSeed, givenAuditStores } from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { origin } from '../../../support/given/audit-signing.js';

const added = Buffer.alloc(32, 17);

/** Returns which of the seeds have signed the served checkpoint, and its text. */
async function signersOf(process: AuditProcess, seeds: readonly Buffer[]) {
  const record = await process.audit.readSigned();
  const note = parseNote(record === null ? '' : (servedNote(record) ?? ''));
  if (note === null) return null;
  const signers = seeds.filter((seed) => {
    const verifier = parseVkey(makeNoteSigner(origin, seed).vkey);
    return verifier !== null && note.signatures.some((line) => isSignedBy(verifier, note.text, line));
  });
  return { text: note.text, signers, lines: note.signatures.length };
}

test('A key that is added signs the last checkpoint, also while the log does not grow', async (t) => {
  // Given a signed log and two processes, of which one has not read the new key yet
  const { append, start, stateStore } = givenAuditStores(1);
  await append(60);
  let seeds = [auditSeed];
  const [process, late] = [start({ seeds: () => seeds }), start()];
  t.teardown(() => Promise.all([process.stop(), late.stop()]));
  const both = [auditSeed, added];
  await eventually('a checkpoint', async () => (await signersOf(process, both))?.signers.length === 1);
  const before = await signersOf(process, both);
  const signedAt = (await process.audit.readSigned())?.signed_at;

  // When the key is added
  seeds = both;
  // Then both keys have signed the same text
  await eventually('both signatures', async () => (await signersOf(process, both))?.signers.length === 2);
  t.deepEqual(await signersOf(process, both), { text: before?.text, signers: both, lines: 2 });
  // and the time of the checkpoint stays that of its size
  t.is((await process.audit.readSigned())?.signed_at, signedAt);

  // When the older key is retired in one process, and the other one still has it
  seeds = [added];
  await new Promise((resolve) => setTimeout(resolve, 300));
  // Then the signatures stay, and no process replaces those of the other one
  t.is((await signersOf(process, both))?.lines, 2);
  const version = (await stateStore.get('audit/checkpoint'))?.version;
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.is((await stateStore.get('audit/checkpoint'))?.version, version);
});
