import test, { type ExecutionContext } from 'ava';

import { servedNote } from '../../../../src/areas/audit/signing/audit-records.js';
import { restartType } from '../../../../src/areas/audit/tree/log-accumulator.js';
import { leafHash } from '../../../../src/areas/audit/tree/merkle.js';
import { isSignedBy, makeNoteSigner, parseNote, parseVkey } from '../../../../src/areas/audit/tree/note.js';
import {
  parseWitnesses,
  type PostText,
  witnessProblem,
  type WitnessStatus,
} from '../../../../src/areas/audit/signing/witnesses.js';
import {
  auditSeed,
  type AuditProcess,
  type AuditProcessOptions,
  givenAuditStores,
  makeAuditEvent,
} from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { makeMemoryReadModelStore } from '../../../support/fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../../../support/fakes/memory-state-store.js';
import { partial } from '../../../support/fakes/partial.js';
import { givenWitness, origin, postByFetch } from '../../../support/given/audit-signing.js';

/** A log whose checkpoints a witness cosigns, over real HTTP. */
async function given(t: ExecutionContext, seed: number) {
  const stores = givenAuditStores(seed, 100);
  const witness = await givenWitness(t);
  const witnesses = parseWitnesses(`# one witness\n${witness.vkey} ${witness.url}/\n`);
  const start = (more: Partial<AuditProcessOptions> = {}): AuditProcess => {
    const process = stores.start({ post: postByFetch, ...more, witnesses });
    t.teardown(() => process.stop());
    return process;
  };
  return { ...stores, witness, start };
}

test('A witness cosigns each checkpoint of a growing log, and the served note holds its line', async (t) => {
  const { append, start, witness } = await given(t, 1);
  const process = start();
  for (const size of [40, 300, 301]) {
    await append(size - witness.sizeOf(origin));
    await eventually('the witness has the size', async () => {
      const record = await process.audit.readSigned();
      return record?.size === size && Object.values(record.cosignatures)[0]?.size === size;
    });
  }
  const record = await process.audit.readSigned();
  const note = parseNote(record === null ? '' : (servedNote(record) ?? ''));
  const verifier = parseVkey(witness.vkey);
  t.is(note?.signatures.length, 2);
  t.true(note?.signatures.some((line) => verifier !== null && isSignedBy(verifier, note.text, line)));
  t.like(process.audit.status().witnesses[0], { size: 301, problem: null, found: null });
});

test('A witness that holds another size than the service thinks gets a proof from its own size', async (t) => {
  const { append, start, witness, stateStore, clock } = await given(t, 2);
  await append(100);
  const first = start();
  await eventually('it is cosigned', async () => {
    const record = await first.audit.readSigned();
    return Object.values(record?.cosignatures ?? {})[0]?.size === 100;
  });
  await first.stop();
  // When the state is lost, the service begins at no size
  await append(50);
  t.not(await stateStore.get('audit/checkpoint'), null);
  const second = start({
    stateStore: makeMemoryStateStore({ clock }),
    readModelStore: makeMemoryReadModelStore(),
  });
  await eventually('it is cosigned again', () => witness.sizeOf(origin) === 150);
  t.true(witness.statuses.includes(409));
  t.is(second.audit.status().contradiction, null);
});

test('A refusal of the empty tree without a size is no contradiction', async (t) => {
  // Given a witness that answers 409 without a body to the question before the first signature
  const { append, start, witness } = await given(t, 6);
  await append(20);
  const asked: string[] = [];
  const silent: PostText = (url, body) => {
    const [, size = ''] = body.slice(body.indexOf('\n\n') + 2).split('\n');
    asked.push(size);
    return size === '0' ? Promise.resolve({ status: 409, body: '' }) : postByFetch(url, body);
  };
  const process = start({ post: silent });
  // When the service signs, then the witness cosigns, and nothing contradicts
  await eventually('it is cosigned', () => witness.sizeOf(origin) === 20);
  t.is(asked[0], '0');
  t.is(process.audit.status().contradiction, null);
});

test('A fork that the witness refuses is a contradiction before anything is signed', async (t) => {
  const { append, start, witness } = await given(t, 3);
  await append(60);
  witness.set(origin, { size: 30, root: leafHash('another history') });
  const process = start();
  await eventually('a contradiction', () => process.audit.status().contradiction !== null);
  t.like(process.audit.status().contradiction, { source: 'witness witness.example/w1' });
  t.regex(process.audit.status().contradiction?.what ?? '', /has seen another history: .* to 60 events/);
  t.true(witness.statuses.includes(422));
  // and nothing more is signed
  await append(40);
  await eventually('the new events are sequenced', () => process.sequencer.stored()?.size === 100);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.is(await process.audit.readSigned(), null);
  // When the witness has the true history again, the service goes on
  witness.set(origin, null);
  await eventually('the log is signed again', async () => (await process.audit.readSigned())?.size === 100);
});

test('A reply with a cosignature that does not verify is no answer, and the status names the problem', async (t) => {
  const { append, start } = await given(t, 5);
  await append(20);
  let isForging = true;
  const forging: PostText = async (url, body) => {
    const reply = await postByFetch(url, body);
    if (reply.status !== 200) return { status: 502, body: '' };
    // The name and the key id stay those of the witness.
    const [, dash = '', name = '', base64 = ''] = /^(\S+) (\S+) (\S+)\n$/.exec(reply.body) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    return { ...reply, body: `${dash} ${name} ${bytes.toString('base64')}\n` };
  };
  const process = start({ post: (url, body) => (isForging ? forging : postByFetch)(url, body) });
  await eventually('the witness is asked', () => process.audit.status().witnesses[0]?.problem !== null);
  t.like(process.audit.status().witnesses[0], {
    size: 0,
    problem: 'its reply holds no cosignature of its key',
    isAwaited: true,
    found: undefined,
  });
  await eventually('the log is sequenced', () => process.sequencer.stored()?.atHead === true);
  t.is(await process.audit.readSigned(), null);
  // When the witness itself answers, the checkpoint is signed and cosigned
  isForging = false;
  await eventually('it is cosigned', async () => {
    const record = await process.audit.readSigned();
    return Object.values(record?.cosignatures ?? {})[0]?.size === 20;
  });
});

test('The first checkpoint after a restart has no cosignature of the former origin', async (t) => {
  // Given a checkpoint that the witness has cosigned
  const { append, start, eventStore, random } = await given(t, 6);
  await append(20);
  const process = start();
  await eventually('it is cosigned', async () => {
    const record = await process.audit.readSigned();
    return Object.keys(record?.cosignatures ?? {}).length === 1;
  });
  // When the log is restarted: the witness does not know the new origin
  const restart = { ...makeAuditEvent(random, 21), type: restartType };
  await eventStore.append('audit-r1', 'no-stream', [restart]);
  await eventually(
    'the new origin is signed',
    async () => (await process.audit.readSigned())?.origin === `${origin}/r1`,
  );
  // Then
  t.deepEqual((await process.audit.readSigned())?.cosignatures, {});
});

test('A line that is no witness is named by its number', (t) => {
  const vkey = makeNoteSigner('log', auditSeed).vkey;
  for (const line of ['junk', `${vkey} https://witness.example`, 'x y z']) {
    t.throws(() => parseWitnesses(`# comment\n\n${line}\n`), { message: /^line 3 of AUDIT_WITNESSES/ });
  }
  t.deepEqual(parseWitnesses('# none\n'), []);
});

test('A status shows the contradiction of a witness first, and says when the first signature waits for it', (t) => {
  const shown = (problem: string | null, isAwaited: boolean, found?: string | null) =>
    witnessProblem(partial<WitnessStatus>({ problem, isAwaited, found }));
  t.is(shown(null, true), null);
  t.is(shown('no answer', false), 'no answer');
  t.is(shown('no answer', false, null), 'no answer');
  t.is(
    shown('no answer', true),
    'no answer; it has not answered since the start, and the first signature waits for it',
  );
  t.is(shown('no answer', true, 'another root'), 'another root');
});
