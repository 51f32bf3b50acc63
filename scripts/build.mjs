// Builds `dist`: the program, and with `--tests` also each module by itself, for tests that import it, and the TypeScript
// client. `--bench` adds the benchmarks. A part whose sources are those of its last build is left as it is.
// `npm run typecheck` checks types; this does not.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { buildDocsReader } from './build-docs-reader.mjs';
import { pageEntries, programEntries, verifierEntry } from './entries.mjs';

const root = join(import.meta.dirname, '..');
const compiled = join(root, 'dist');

/** Options of all parts. Node reads the maps when it runs with --enable-source-maps. */
const common = {
  absWorkingDir: root,
  outdir: 'dist',
  format: 'esm',
  target: 'node20.19',
  platform: 'node',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
};

/** Sources that the build itself makes. */
const madeByClient = /^clients\/typescript\/src\/(document|idempotent-paths)\.ts$/;

const bench = 'test/bench';

const everyPart = ['package-lock.json', 'tsconfig.json', 'scripts/build.mjs', 'scripts/entries.mjs'];

await once('program', [...everyPart, 'scripts/build-docs-reader.mjs', 'src', 'projections'], async () => {
  prune('chunks', [...(await buildProgram()), ...(await buildPages())]);
  buildDocsReader();
});
if (process.argv.includes('--tests')) {
  await once('modules', [...everyPart, 'src', 'projections', 'test'], async () => {
    const outputs = await buildModules(['src', 'projections', 'test']);
    for (const folder of ['src', 'projections', 'test']) prune(folder, outputs);
  });
  await once(
    'client',
    [...everyPart, 'scripts/make-client.mjs', 'src', 'projections', 'clients/typescript/src'],
    async () => {
      const { makeClient } = await import('./make-client.mjs');
      await makeClient();
    },
  );
}
if (process.argv.includes('--bench')) {
  await once('bench', [...everyPart, bench], async () => {
    prune(bench, await buildModules([bench]));
  });
}

/** Runs a part when its sources differ from those of its last build, which a file in `dist` names. */
async function once(part, sources, make) {
  const file = join(compiled, `${part}.digest`);
  const digest = digestOf(sources);
  if (existsSync(file) && readFileSync(file, 'utf8') === digest) return;
  // A part that is interrupted has no digest, so the next build makes it again.
  rmSync(file, { force: true });
  mkdirSync(compiled, { recursive: true });
  await make();
  writeFileSync(file, digest);
}

/** The service and the command line, with what only some commands need in chunks, and the worker threads beside them. */
async function buildProgram() {
  const { metafile } = await build({
    ...common,
    entryPoints: programEntries,
    bundle: true,
    // Node then starts with a tenth less CPU. The maps name the lines of the sources.
    minifyWhitespace: true,
    minifySyntax: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    // libsql has a program for each machine. tinypool starts a file of its package. The others are large and load only when the
    // configuration asks for them.
    external: ['libsql', 'mongodb', '@eventstore/db-client', 'nodemailer', 'tinypool'],
    // Packages in CommonJS load the modules of Node by `require`.
    banner: {
      js: "import { createRequire as makeRequire } from 'node:module';\nconst require = makeRequire(import.meta.url);",
    },
  });
  await build({ ...common, entryPoints: verifierEntry });
  return Object.keys(metafile.outputs);
}

async function buildPages() {
  const { metafile } = await build({
    ...common,
    entryPoints: {
      ...pageEntries,
      ...Object.fromEntries(
        filesIn('src/areas/shares/page/texts').map((file) => [
          `pages/texts/${file.split('/').at(-1).replace('.json', '')}`,
          file,
        ]),
      ),
    },
    bundle: true,
    platform: 'browser',
    target: 'es2023',
    sourcemap: false,
    charset: 'utf8',
    loader: { '.json': 'copy' },
  });
  return Object.keys(metafile.outputs);
}

async function buildModules(folders) {
  const { metafile } = await build({
    ...common,
    entryPoints: folders
      .flatMap(filesIn)
      .filter((file) => /\.(ts|json)$/.test(file) && !file.endsWith('tsconfig.json')),
    outbase: '.',
    loader: { '.json': 'copy' },
  });
  return Object.keys(metafile.outputs);
}

/** Deletes files of earlier builds, so that no deleted test runs and no import of a deleted module resolves. */
function prune(folder, outputs) {
  const kept = new Set(outputs);
  for (const file of filesIn(`dist/${folder}`)) if (!kept.has(file)) rmSync(join(root, file));
}

/** Returns the files of a folder, or the file itself, with paths from the root, sorted. `test` is without the benchmarks. */
function filesIn(path) {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((file) => path.endsWith('bench') || !/^(dist\/)?test\/bench\//.test(file))
    .sort();
}

function digestOf(sources) {
  const digest = createHash('sha256');
  for (const file of sources.flatMap(filesIn).filter((file) => !madeByClient.test(file)))
    digest.update(`${file}\n`).update(readFileSync(join(root, file)));
  return digest.digest('hex');
}
