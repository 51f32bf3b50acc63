import test from 'ava';
import { fuzz } from './support/fuzz/run.js';

// The same few thousand in every run; test/deep sends a hundred thousand others.
test('no request of three thousand, well made or not, gets a reply that its route does not declare', async (t) => {
  const counts = await fuzz(t, { requests: 3_000, seed: 1 });
  t.true(counts.size > 50, 'routes answer in many ways');
});
