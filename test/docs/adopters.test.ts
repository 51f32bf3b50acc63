/* What people look for before they adopt a service, at the places where they look. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { packageFile } from '../../src/package-files.js';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly files?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
}

const textOf = (file: string): string => readFileSync(packageFile(file), 'utf8');
const packageIn = (folder: string): Package => JSON.parse(textOf(`${folder}package.json`)) as Package;
const own = packageIn('');
const hasText = (file: string, words: RegExp): boolean =>
  existsSync(packageFile(file)) && words.test(textOf(file));
const named = (folder: string): string => `${packageIn(folder).name} ${packageIn(folder).version}`;

const rows: Readonly<Record<string, () => boolean>> = {
  licence: () =>
    hasText('LICENSE', /Apache License\s+Version 2\.0/) &&
    ['', 'clients/typescript/', 'clients/verify/', 'docs/'].every(
      (folder) => packageIn(folder).license === 'Apache-2.0',
    ),
  'security policy': () => hasText('SECURITY.md', /report/i),
  contributing: () => hasText('CONTRIBUTING.md', /npm test/),
  'code of conduct': () => hasText('CODE_OF_CONDUCT.md', /./),
  'changelog with the version': () => textOf('CHANGELOG.md').includes(`\n## [${own.version}] - `),
  image: () => hasText('Dockerfile', /^HEALTHCHECK /m) && existsSync(packageFile('scripts/build-image.sh')),
  'packages by name': () =>
    ['', 'clients/typescript/', 'clients/verify/'].map(named).join() ===
    ['stowage', 'stowage-client', 'stowage-verify'].map((name) => `${name} ${own.version}`).join(),
  'list of parts': () => own.files?.includes('sbom.cdx.json') === true,
  manifests: () => readdirSync(packageFile('deploy/kubernetes')).some((file) => file.endsWith('.yaml')),
  comparison: () => hasText('docs/compare.md', /PocketBase/),
  'supported versions': () => hasText('docs/operate.md', /^## Supported versions$/m),
  traces: () => hasText('docs/operate.md', /OTEL_EXPORTER_OTLP_ENDPOINT/),
  'upgrade gate': () => existsSync(packageFile(`test/upgrades/${own.version}/log.jsonl`)),
  'documentation site': () =>
    own.scripts?.['docs:site'] !== undefined && hasText('docs/package.json', /vitepress/),
};

test('Adopters find 14 of the 14 things that they look for', (t) => {
  const found = Object.keys(rows).filter((row) => rows[row]?.() === true);
  t.deepEqual(found, Object.keys(rows));
  t.is(found.length, 14);
});
