import type { TestFn } from 'ava';
import type { Sabotage, ScheduleOptions } from '../../deep/register-simulation.js';

/*
 * Campaigns of seeded attempts. DEEP_SEED=<printed>, with DEEP_HISTORY or DEEP_SCHEDULE=<named in the failure>, replays one of
 * them. DEEP_BUDGET multiplies their number.
 */
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const limitMs = 30 * 60_000 * Math.max(1, budget);

function seedOr(usual: number): number {
  return Number(process.env['DEEP_SEED'] ?? usual);
}

interface History {
  /** The problem, or null. */
  readonly problem: string | null;
}

/** The numbers of all results added up. Of a number whose name ends in `Max` the largest counts. */
type Sums<Found extends History> = Readonly<Record<Exclude<keyof Found, 'problem'>, number>>;

/**
 * Declares a test that runs histories until one has a problem.
 * @param campaign.hasMet whether the histories together met what they are about; otherwise they prove nothing
 */
export function testHistories<Found extends History>(
  test: TestFn,
  title: string,
  campaign: {
    readonly seed: number;
    readonly histories: number;
    readonly run: (seed: number) => Promise<Found>;
    readonly hasMet: (sums: Sums<Found>, histories: number) => boolean;
  },
): void {
  const seed = seedOr(campaign.seed);
  const only = process.env['DEEP_HISTORY'];
  test(title, async (t) => {
    t.timeout(limitMs);
    t.log(`DEEP_SEED=${seed}`);
    const histories = only === undefined ? Math.ceil(campaign.histories * budget) : 1;
    const sums: Record<string, number> = {};
    for (let n = 0; n < histories; n += 1) {
      const history = only === undefined ? (seed + n * 7_919) % 2 ** 31 : Number(only);
      const { problem, ...found } = await campaign.run(history);
      if (problem !== null) {
        t.fail(`${problem}: repeat with DEEP_SEED=${seed} DEEP_HISTORY=${history}`);
        return;
      }
      for (const [what, value] of Object.entries(found)) {
        const before = sums[what] ?? 0;
        sums[what] = what.endsWith('Max') ? Math.max(before, Number(value)) : before + Number(value);
      }
    }
    t.log(`${histories} histories: ${JSON.stringify(sums)}`);
    t.true(only !== undefined || campaign.hasMet(sums as Sums<Found>, histories));
  });
}

type RunSchedule = (seed: number, options: ScheduleOptions) => Promise<string | null>;

/** Spreads the numbers of schedules over the seeds (Knuth's multiplicative hashing). */
function seedOf(seed: number, schedule: number): number {
  return (seed + Math.imul(schedule + 1, 2_654_435_761)) >>> 0;
}

/**
 * Declares a test that runs schedules until one has a problem, and a test for each sabotage, which the schedules must find.
 * @param campaign.title returns the title for a number of schedules
 * @param campaign.meets what the schedules must meet, if there are as many as `meetsFrom`
 * @param campaign.sabotages by what the code lacks then
 */
export function testSchedules(
  test: TestFn,
  campaign: {
    readonly title: (schedules: number) => string;
    readonly seed: number;
    readonly schedules: number;
    readonly run: RunSchedule;
    readonly meets: readonly string[];
    readonly meetsFrom: number;
    readonly sabotages: Readonly<Record<string, Sabotage>>;
    readonly sabotagedMax: number;
  },
): void {
  const { run, sabotagedMax } = campaign;
  const seed = seedOr(campaign.seed);
  const only = process.env['DEEP_SCHEDULE'];
  const schedules = Math.ceil(campaign.schedules * budget);
  test(campaign.title(schedules), async (t) => {
    t.timeout(limitMs);
    t.log(`DEEP_SEED=${seed}`);
    const tally = new Map<string, number>();
    const first = only === undefined ? 0 : Number(only);
    const last = only === undefined ? schedules - 1 : first;
    for (let schedule = first; schedule <= last; schedule += 1) {
      const options = { tally, ...(only === undefined ? {} : { traceTo: t.log }) };
      const problem = await run(seedOf(seed, schedule), options);
      if (problem === null) continue;
      t.fail(`${problem}: repeat with DEEP_SEED=${seed} DEEP_SCHEDULE=${schedule}`);
      return;
    }
    t.log(Object.fromEntries(tally));
    t.pass();
    if (schedules < campaign.meetsFrom || only !== undefined) return;
    for (const what of campaign.meets)
      t.true((tally.get(what) ?? 0) > schedules / 1_000, `the schedules hardly ever met: ${what}`);
  });

  for (const [what, sabotage] of Object.entries(campaign.sabotages)) {
    test(`The schedules find out that the code lacks ${what}`, async (t) => {
      for (let schedule = 0; schedule < sabotagedMax; schedule += 1) {
        const problem = await run(seedOf(seed, schedule), { tally: new Map(), sabotage });
        if (problem === null) continue;
        t.log(`schedule ${schedule}: ${problem}`);
        t.pass();
        return;
      }
      t.fail(`${sabotagedMax} schedules found nothing`);
    });
  }
}
