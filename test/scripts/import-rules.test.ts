import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { ICruiseResult, IFlattenedRuleSet } from 'dependency-cruiser';
import { packageFile } from '../../src/package-files.js';

const { forbidden } = createRequire(import.meta.url)(
  fileURLToPath(packageFile('.dependency-cruiser.cjs')),
) as IFlattenedRuleSet;

/** Returns the names of the rules that an import between two files of this repository breaks. */
async function rulesBrokenBy(from: string, to: string): Promise<readonly string[]> {
  // The package awaits at its top level. A static import would let the tests of a shared process be declared too late.
  const { cruise } = await import('dependency-cruiser');
  const folder = mkdtempSync(join(tmpdir(), 'stowage-imports-'));
  try {
    const path = `/${to.replace(/\.ts$/, '.js')}`;
    const files = {
      [from]: `import '${'../'.repeat(from.split('/').length - 1).slice(0, -1)}${path}';\n`,
      [to]: 'export {};\n',
    };
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    const { output } = await cruise([from], {
      baseDir: folder,
      validate: true,
      ruleSet: { forbidden: forbidden ?? [] },
      tsPreCompilationDeps: true,
    });
    return (output as ICruiseResult).summary.violations.map(({ rule }) => rule.name);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const against = [
  [
    'src/areas/accounts/commands/login.ts',
    'src/areas/projects/domain/role.ts',
    'accounts-in-the-order-of-areas',
  ],
  [
    'src/areas/storages/commands/open.ts',
    'src/areas/payments/domain/payment.ts',
    'storages-in-the-order-of-areas',
  ],
  [
    'src/areas/nodes/commands/add.ts',
    'src/areas/shares/domain/share/events.ts',
    'nodes-in-the-order-of-areas',
  ],
  ['src/areas/shared/deps.ts', 'src/areas/accounts/domain/user/events.ts', 'shared-in-the-order-of-areas'],
  [
    'projections/accounts/users/reader.ts',
    'projections/assets/usage/reader.ts',
    'accounts-in-the-order-of-areas',
  ],
  ['src/areas/shares/commands/visit.ts', 'src/areas/commands.ts', 'areas-import-no-sum-of-areas'],
  ['src/kit/lru.ts', 'src/event-sourcing/ports/clock.ts', 'kit-stands-alone'],
  ['src/event-sourcing/views/fold.ts', 'src/areas/shared/deps.ts', 'kernel-knows-nothing-of-ours'],
  ['src/http/server/app.ts', 'src/areas/accounts/routes/account.ts', 'http-is-a-shell'],
] as const;

for (const [from, to, rule] of against) {
  test(`An import of ${to} in ${from} breaks the rule ${rule}`, async (t) => {
    t.true((await rulesBrokenBy(from, to)).includes(rule));
  });
}

test('An import of a lower area breaks no rule', async (t) => {
  t.deepEqual(
    await rulesBrokenBy('src/areas/shares/commands/a.ts', 'src/areas/accounts/domain/user/events.ts'),
    [],
  );
});
