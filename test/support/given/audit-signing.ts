import type { ExecutionContext } from 'ava';
import { makeNoteSigner } from '../../../src/areas/audit/tree/note.js';
import { auditCollection } from '../../../src/areas/audit/tree/tile-store.js';
import type { PostText } from '../../../src/areas/audit/signing/witnesses.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { type AuditProcess, auditSeed } from '../audit/audit-scene.js';
import { startTestWitness } from '../audit/test-witness.js';
import { eventually } from '../eventually.js';

/** The origin of the log in memory. */
export const origin = 'stowage/00000000-0000-4000-8000-000000000001';

/** Starts a witness that knows the key of the log. It ends with the test. */
export async function givenWitness(t: ExecutionContext) {
  const witness = await startTestWitness([makeNoteSigner(origin, auditSeed).vkey]);
  t.teardown(() => witness.close());
  return witness;
}

/** Asks a witness over HTTP, without the guard of outgoing calls. */
export const postByFetch: PostText = async (url, body) => {
  const reply = await fetch(url, { method: 'POST', body });
  return { status: reply.status, body: await reply.text() };
};

export async function signedAt({ audit }: AuditProcess, size: number): Promise<void> {
  await eventually(`a checkpoint of ${size}`, async () => (await audit.readSigned())?.size === size);
}

/** Reads the tree until it can be read. */
export async function treeRead(name: string, read: () => Promise<unknown>): Promise<void> {
  await eventually(name, () =>
    read().then(
      () => true,
      () => false,
    ),
  );
}

export async function loseTiles(readModelStore: ReadModelStore): Promise<void> {
  await readModelStore.dropCollection(auditCollection);
  await readModelStore.ensureCollection(auditCollection, []);
}
