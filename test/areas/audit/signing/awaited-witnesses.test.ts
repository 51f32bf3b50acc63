import test, { type ExecutionContext } from 'ava';
import { parseWitnesses, type PostText } from '../../../../src/areas/audit/signing/witnesses.js';
import {
  type AuditProcess,
  type AuditProcessOptions,
  givenAuditStores,
} from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { givenWitness, postByFetch, signedAt } from '../../../support/given/audit-signing.js';

/** A log with a witness that answers only while a test lets it. */
async function given(t: ExecutionContext, seed: number) {
  const stores = givenAuditStores(seed, 10_000);
  const witness = await givenWitness(t);
  let silence: 'none' | 'no answer' | number = 'none';
  const post: PostText = async (url, body) => {
    if (silence === 'no answer') throw new Error('no answer');
    if (silence !== 'none') return { status: silence, body: '' };
    return postByFetch(url, body);
  };
  const witnesses = parseWitnesses(`${witness.vkey} ${witness.url}/\n`);
  const reports: (readonly string[])[] = [];
  const start = (more: Partial<AuditProcessOptions> = {}): AuditProcess => {
    const events = { onAwaited: (names: readonly string[]) => void reports.push(names) };
    const process = stores.start({ post, witnesses, events, ...more });
    t.teardown(() => process.stop());
    return process;
  };
  const set = (next: typeof silence): void => {
    silence = next;
  };
  return { ...stores, witness, reports, start, set };
}

for (const silence of ['no answer', 502, 429] as const) {
  test(`The first signature of a process waits while a witness gives ${silence}, and each hour has a report`, async (t) => {
    // Given a log, and a witness that does not answer
    const { append, start, set, clock, reports } = await given(t, 1);
    await append(30);
    set(silence);
    const begunMs = clock.now().getTime();
    // When a process runs for more than an hour
    const process = start();
    await eventually('two reports', () => reports.length >= 2);
    // Then it has signed nothing, and says why
    t.true(clock.now().getTime() - begunMs >= 60 * 60 * 1_000);
    t.deepEqual(reports[0], ['witness.example/w1']);
    t.is(await process.audit.readSigned(), null);
    t.like(process.audit.status(), { contradiction: null });
    t.like(process.audit.status().witnesses[0], { isAwaited: true });
    // When the witness answers, then the process signs
    set('none');
    await signedAt(process, 30);
    t.like(process.audit.status().witnesses[0], { isAwaited: false });
  });
}

test('A witness that falls silent after its first answer delays no signature', async (t) => {
  const { append, start, set } = await given(t, 2);
  await append(30);
  const process = start();
  await signedAt(process, 30);
  // When it falls silent
  set('no answer');
  await append(10);
  // Then
  await signedAt(process, 40);
  t.is(process.audit.status().contradiction, null);
});

test('A process that starts without the witness in its settings waits for no answer', async (t) => {
  const { append, start, set } = await given(t, 3);
  await append(30);
  set('no answer');
  const waiting = start();
  await eventually('it waits', () => waiting.audit.status().witnesses[0]?.problem !== null);
  await waiting.stop();
  t.is(await waiting.audit.readSigned(), null);
  // When the witness is taken out of the settings
  const process = start({ witnesses: [] });
  // Then
  await signedAt(process, 30);
});

test('A process asks at its start, so it signs at once when it takes the sequencing over from a lost process', async (t) => {
  // Given two processes that the witness has answered
  const { append, start, set } = await given(t, 4);
  await append(30);
  let sequences = 'first';
  const first = start({ isHere: () => sequences === 'first' });
  await signedAt(first, 30);
  const second = start({ isHere: () => sequences === 'second' });
  await eventually('the second one has asked', () => {
    const [status] = second.audit.status().witnesses;
    return status?.isAwaited === false;
  });
  // When the witness falls silent and the role moves
  set('no answer');
  sequences = 'second';
  await append(10);
  // Then
  await signedAt(second, 40);
  t.like(second.audit.status().witnesses[0], { isAwaited: false, problem: 'Error' });
});
