import test from 'ava';
import { freezeUnderWriters, frozenDiskLacks } from '../support/servers/frozen-disk.js';

/** DEEP_BUDGET=1 freezes 20 times for 9 s. */
const freezes = Math.max(2, Math.round(20 * Number(process.env['DEEP_BUDGET'] ?? 0.1)));
/** The longest answers during a freeze, in ms: those of the service, and a second of a busy machine for writes. */
const longestMs = { health: 1_000, reads: 2_000, writes: 6_000 };

const run = frozenDiskLacks === undefined ? test.serial : test.serial.skip;
if (frozenDiskLacks !== undefined) console.log(`NOT RUN: a frozen disk: it needs ${frozenDiskLacks}`);

run(
  'While the disk is frozen, health answers, reads answer or are 503, and writes are 503; nothing acknowledged is lost',
  async (t) => {
    t.timeout(30 * 60_000);
    // When the disk freezes again and again under clients that write, read and ask for the health
    const { asked, longest, unexpected, lost } = await freezeUnderWriters(freezes);
    t.log(JSON.stringify({ freezes, asked, longest }));
    // Then every reply came in its time
    for (const kind of ['health', 'reads', 'writes'] as const)
      t.true(longest[kind] <= longestMs[kind], `${kind}: ${Math.round(longest[kind])} ms`);
    t.deepEqual(unexpected, []);
    t.true(asked.health > freezes && asked.reads > freezes && asked.refused > 0);
    // and every acknowledged change is there, also after a kill.
    t.deepEqual(lost, []);
  },
);
