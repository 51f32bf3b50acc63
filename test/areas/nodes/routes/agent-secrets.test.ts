import test from 'ava';
import { makeCheckAgentSecret } from '../../../../src/http/access/authenticate.js';
import { HttpError } from '../../../../src/http/replies/error-codes.js';
import { makeAgentSecrets } from '../../../../src/keys/codes/agent-secrets.js';
import { makeSeededRandom } from '../../../support/fakes/clock.js';
import { makeVirtualClock } from '../../../support/kernel/virtual-clock.js';

function given(secrets: readonly (string | undefined)[]) {
  const clock = makeVirtualClock();
  const source: { secrets: readonly (string | undefined)[]; problem: Error | null } = {
    secrets,
    problem: null,
  };
  const problems: unknown[] = [];
  const reads = { count: 0 };
  const ring = makeAgentSecrets({
    load: () => {
      reads.count += 1;
      if (source.problem !== null) throw source.problem;
      return source.secrets;
    },
    clock,
    onProblem: (error) => problems.push(error),
  });
  const check = makeCheckAgentSecret(ring);
  const statusOf = async (secret: string | null): Promise<number> => {
    try {
      await check(secret);
      return 204;
    } catch (error) {
      if (error instanceof HttpError) return error.status;
      throw error;
    }
  };
  return { clock, source, problems, reads, ring, statusOf };
}

test('A new secret is accepted at once, and the secrets are read at most once a second for unknown ones', async (t) => {
  const { clock, source, reads, statusOf } = given(['one']);
  source.secrets = ['two', 'one'];
  t.deepEqual([await statusOf('two'), await statusOf('one')], [204, 204]);
  t.is(reads.count, 2, 'the first reading, and that for the unknown secret');
  // Given a reading for a wrong secret a moment ago, when the secret changes, then its first agent waits for the next one
  const wrong = Promise.all([statusOf('wrong'), statusOf('wrong'), statusOf('')]);
  await clock.advance(1_000);
  t.deepEqual(await wrong, [401, 401, 401]);
  t.is(reads.count, 3);
  source.secrets = ['three', 'two'];
  const early = statusOf('three');
  await clock.advance(999);
  t.is(reads.count, 3);
  await clock.advance(1);
  t.is(await early, 204);
  t.is(reads.count, 4);
});

test('A removed secret is refused within 31 s, and none at all is 503', async (t) => {
  const { clock, source, ring, statusOf } = given(['one', 'old']);
  const stop = new AbortController();
  const watching = ring.watch(stop.signal);
  source.secrets = ['one', undefined];
  await clock.advance(31_000);
  t.is(await statusOf('old'), 401);
  t.is(await statusOf('one'), 204);
  source.secrets = [undefined, undefined];
  await clock.advance(31_000);
  t.deepEqual([await statusOf('one'), await statusOf(null)], [503, 503]);
  source.secrets = ['again'];
  const first = statusOf('again');
  await clock.advance(1_000);
  t.is(await first, 204, 'a service without a secret gets one without a restart');
  t.is(await statusOf(null), 401);
  stop.abort();
  await watching;
  t.is(clock.sleepers, 0);
});

test('A reading that fails keeps the old secrets and is reported', async (t) => {
  const { clock, source, problems, ring, statusOf } = given(['one']);
  source.problem = new Error('the file is gone');
  ring.reload();
  t.deepEqual([await statusOf('one'), await statusOf('two')], [204, 401]);
  t.is(problems.length, 2);
  source.problem = null;
  source.secrets = ['two'];
  const two = statusOf('two');
  await clock.advance(1_000);
  t.deepEqual([await two, problems.length], [204, 2]);
});

test('A clock that is set back delays an unknown secret by one second at most', async (t) => {
  const virtual = makeVirtualClock();
  let offsetMs = 0;
  let secrets = ['one'];
  const clock = { ...virtual, now: () => new Date(virtual.now().getTime() + offsetMs) };
  const ring = makeAgentSecrets({ load: () => secrets, clock, onProblem: (error) => t.fail(String(error)) });
  await ring.refreshed();
  offsetMs = -3_600_000;
  secrets = ['two'];
  const refreshed = ring.refreshed();
  await virtual.advance(1_000);
  await refreshed;
  t.is(makeCheckAgentSecret(ring)('two'), undefined);
});

/** `test/deep` makes 50 under a real service. */
const rotations = 10;

test(`${rotations} rotations under 200 polling agents and a guesser make no wrong 401`, async (t) => {
  const { clock, source, ring, statusOf, reads } = given(['secret 0']);
  const random = makeSeededRandom(5);
  const stop = new AbortController();
  const wrong: string[] = [];
  const poll = async (agent: { secret: string }): Promise<void> => {
    while (!stop.signal.aborted) {
      await clock.sleep(100 + random() * 800);
      const { secret } = agent;
      if ((await statusOf(secret)) !== 204) wrong.push(secret);
    }
  };
  const guess = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await clock.sleep(300);
      if ((await statusOf(`guess ${random()}`)) !== 401) wrong.push('a guess was right');
    }
  };
  const agents = Array.from({ length: 200 }, () => ({ secret: 'secret 0' }));
  const running = [ring.watch(stop.signal), guess(), ...agents.map(poll)];
  const startedMs = clock.now().getTime();
  for (let n = 1; n <= rotations; n += 1) {
    source.secrets = [`secret ${n}`, `secret ${n - 1}`];
    for (const agent of agents) {
      await clock.advance(random() * 10);
      agent.secret = `secret ${n}`;
    }
    // An agent may still wait for the reply to its old secret.
    await clock.advance(3_000);
  }
  const seconds = (clock.now().getTime() - startedMs) / 1_000;
  t.true(reads.count <= seconds * (1 + 1 / 30) + 2, `${reads.count} readings in ${seconds} s`);
  stop.abort();
  await clock.run(Promise.all(running));
  t.deepEqual(wrong, []);
});
