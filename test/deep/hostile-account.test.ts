import test from 'ava';
import { defaultLimits } from '../../src/security/rates/limits.js';
import type { Answer } from '../support/clients/http-app.js';
import { countingReads } from '../support/clients/counting-reads.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { password, startTestService } from '../support/servers/http-service.js';

/* DEEP_SEED=<printed> replays a run. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);

/** The largest cost of one request of an account with 100 projects: a list of all, with their totals. */
const readMax = 320;
const callsMax = 12;

test('One account with 5 sessions makes a bounded number of reads in a minute (F1, F10)', async (t) => {
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  const { wrapDocuments, costOf, total } = countingReads();
  // Given an account with as many projects as it may have, and 5 sessions
  const service = await startTestService(t, { storeOptions: { wrapDocuments } });
  const { get, post, ask, signUp, clock } = service;
  const honest = await signUp('honest');
  const sessions = [await signUp('hostile')];
  for (let n = 0; n < 100; n += 1) {
    t.is((await post('/api/v1/projects', { name: `${n}` }, sessions[0])).status, 201);
    clock.advance(1_000);
  }
  const email = 'hostile@example.com';
  for (let n = 1; n < 5; n += 1) {
    const answer = await post('/api/v1/auth/login', { email, password });
    const { data } = answer.json as { data: { tokens: { access_token: string } } };
    sessions.push({ authorization: `Bearer ${data.tokens.access_token}` });
  }
  clock.advance(120_000);
  const honestCost = () => costOf(() => get('/api/v1/auth/me', honest));
  const before = await honestCost();

  // When each session sends more than its limit within a minute
  type Session = (typeof sessions)[number];
  const worst: readonly ((session: Session) => Promise<Answer>)[] = [
    (session) => get('/api/v1/auth/me', session),
    (session) => get('/api/v1/projects?limit=200', session),
    (session) => get('/api/v1/auth/sessions?limit=200', session),
    (session) => post('/api/v1/projects', { name: 'one more' }, session),
    (session) => ask('/api/v1/auth/me', { method: 'PATCH', headers: session, json: { nickname: 'x' } }),
  ];
  let admitted = 0;
  const began = total();
  for (let n = 0; n < 3_500; n += 1) {
    const session = sessions[n % sessions.length] ?? honest;
    const request = worst[Math.floor(random() * worst.length)] ?? worst[0];
    const atStart = total();
    const answer = await request?.(session);
    if (answer?.status !== 429) admitted += 1;
    const [calls, read] = [total().calls - atStart.calls, total().read - atStart.read];
    if (calls > callsMax || read > readMax) return t.fail(`request ${n}: ${calls} calls, ${read} documents`);
  }

  // Then no more than the limit of a user passes, and the reads are bounded by it; a refused request reads the caller
  t.is(admitted, defaultLimits.user.limit);
  const refusedCost = 3;
  const read = total().read - began.read;
  t.true(read <= admitted * readMax + (3_500 - admitted) * refusedCost, `${read} documents were read`);
  // And others pay nothing for it
  t.deepEqual(await honestCost(), before);
  return undefined;
});
