import test from 'ava';
import { allPlatforms, takeMutants } from '../support/refused-callbacks.js';

for (const name of allPlatforms) {
  test(`${name}: what is not believed calls no store, and what is believed does`, async (t) => {
    const { acknowledged, refused } = await takeMutants(t, name, { count: 300, seed: 1 });
    t.true(acknowledged > 0 && refused > 100, `${acknowledged} acknowledged, ${refused} refused`);
  });
}
