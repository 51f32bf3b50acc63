import type { ExecutionContext } from 'ava';
import { failuresSchema } from '../../../src/security/guessing/failures.js';
import { makeTestClock } from '../fakes/clock.js';
import { givenCommands } from '../given/given-commands.js';
import { givenAsset, givenShare, nextContext } from '../given/given-share.js';
import { givenStores } from '../given/given-stores.js';
import { outcomeOf } from '../given/outcome-of.js';
import { strangers } from './account-guessing.js';

export const pin = '4711';

/** Shares an asset behind a PIN. Waiting takes no time. */
export async function givenGuessedShare(t: ExecutionContext) {
  const clock = { ...makeTestClock(), sleep: () => Promise.resolve() };
  const stores = await givenStores({ clock });
  const hashes: unknown[] = [];
  const commands = givenCommands(stores, { onHash: (input) => hashes.push(input) });
  const service = { ...stores, commands };
  const asset = await givenAsset(service);
  const share = await givenShare(service, asset, { password: pin });
  /** @param session of an earlier visit */
  const open = async (password: string, clientIp: string, session?: string) => {
    const known = await commands.visitorOf({ token: share.token, session });
    return commands.verifyShare(
      { token: share.token, password, client: { ip: clientIp, known } },
      nextContext(service),
    );
  };
  const verify = (password: string, clientIp: string, session?: string) =>
    outcomeOf(open(password, clientIp, session));
  /** Types wrong passwords from as many networks. Returns how many were hashed. */
  const guess = async (count: number, batch: number): Promise<number> => {
    hashes.length = 0;
    await Promise.all(strangers(count, batch).map((clientIp) => verify('0000', clientIp)));
    return hashes.length;
  };
  /** Guesses as often as a day allows. All but the first and the last hundred are written into the record of failures. */
  const guessUntilLimit = async (batch: number): Promise<void> => {
    await guess(1, batch);
    const records = await stores.stateStore.list('guessing/', { limit: 10 });
    const record = records.toSorted((a, b) => Number(a.version) - Number(b.version)).at(-1);
    if (record === undefined) throw new Error('no failure was recorded');
    const { days, ...rest } = failuresSchema.parse(record.value);
    const raised = days.map((entry) => ({ ...entry, failures: 899 + entry.failures }));
    await stores.stateStore.compareAndSet(record.key, record.version, { ...rest, days: raised });
    t.is(await guess(110, batch + 1), 100);
  };
  const reached = async () => {
    await commands.background.settled();
    const events = await stores.eventStore.read(`share-${share.id}`);
    return events.filter(({ type }) => type === 'ShareGuessingLimitReached').length;
  };
  const change = (password: string) =>
    commands.changeShare(
      { projectId: asset.projectId, shareId: share.id, changes: { password } },
      nextContext(service),
    );
  return { stores, service, clock, share, open, verify, guess, guessUntilLimit, reached, change, commands };
}
