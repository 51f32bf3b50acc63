// Builds the site of the guides, docs, into dist/guides, whose files the service serves at /guides: npm run docs:site
// VitePress has its own package.json there, which this installs. A site whose sources are those of the last build is left as it is.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { packFiles, policyDigest } from './pack-files.mjs';
import { sitePackages } from './site-packages.mjs';

const root = join(import.meta.dirname, '..');
const docs = join(root, 'docs');
const target = join(root, 'dist', 'guides');
const manifest = join(target, 'manifest.json');
const vitepress = join(docs, 'node_modules', 'vitepress');

/** Files outside docs that make the site. */
const builders = ['scripts/build-site.mjs', 'scripts/site-packages.mjs'];

const sources = digestOfSources();
if (!existsSync(manifest) || JSON.parse(readFileSync(manifest, 'utf8')).sources !== sources) buildSite();

function buildSite() {
  const { packages } = JSON.parse(readFileSync(join(docs, 'package-lock.json'), 'utf8'));
  if (installedVersion() !== packages['node_modules/vitepress'].version)
    run('npm', ['ci', '--no-audit'], docs);
  const built = mkdtempSync(join(tmpdir(), 'stowage-site-'));
  try {
    run(process.execPath, [join(vitepress, 'bin', 'vitepress.js'), 'build', '--outDir', built], docs);
    const names = filesIn(built).filter((name) => name !== 'hashmap.json');
    rmSync(target, { recursive: true, force: true });
    packFiles(built, names, target);
    writeFileSync(join(target, 'THIRD-PARTY'), licences());
    // The manifest comes last: a build that was interrupted has none. It has the digests of the scripts in each page.
    const files = Object.fromEntries(names.map((name) => [name, scriptsIn(join(built, name))]));
    writeFileSync(manifest, `${JSON.stringify({ sources, files }, null, 1)}\n`);
    console.log(`dist/guides: ${names.length} files`);
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

function run(command, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(' ')}:\n${stdout}${stderr}`);
}

function installedVersion() {
  const file = join(vitepress, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** Returns the digests of the scripts in a page, for its policy; of another file, none. */
function scriptsIn(file) {
  if (!file.endsWith('.html')) return [];
  const scripts = readFileSync(file, 'utf8').matchAll(/<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g);
  return [...scripts].map(([, text]) => policyDigest(text));
}

function licences() {
  const parts = sitePackages.map((name) => {
    const folder = join(docs, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    const text =
      file === undefined
        ? 'The package contains no text of its licence.'
        : readFileSync(join(folder, file), 'utf8');
    return `${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return `The script of the guides contains code of these packages.\n\n${parts.join('\n')}`;
}

function digestOfSources() {
  const digest = createHash('sha256');
  const all = filesIn(docs).filter(
    (name) => !/^(node_modules|\.vitepress\/(cache|dist)|decisions)\//.test(name),
  );
  for (const file of [...all.map((name) => join('docs', name)), 'CHANGELOG.md', ...builders])
    digest.update(`${file}\n`).update(readFileSync(join(root, file)));
  return digest.digest('hex');
}

/** Returns the files of a folder, sorted, with paths from it. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}
