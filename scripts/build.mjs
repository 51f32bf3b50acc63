// Builds `dist`, the program, and what its package brings. `--packages` adds the folders of the other packages, `--tests` these
// and each module by itself, for tests that import it, `--bench` the benchmarks. A part whose sources are those of its last
// build is left as it is.
// `npm run typecheck` checks types; this does not.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { buildDocsReader } from './build-docs-reader.mjs';
import { pageEntries, programEntries, verifierEntry } from './entries.mjs';
import { makeNotices } from './make-notices.mjs';

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
  // The bytes do not depend on where the folder of the packages lies.
  preserveSymlinks: true,
  metafile: true,
  logLevel: 'warning',
};

/** An import of `node:http` reads all its names, for which Node loads its WebSocket and all of undici. `require` does not. */
const httpByRequire = {
  name: 'http-by-require',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^(node:)?http$/ }, ({ kind, path }) =>
      kind === 'import-statement' ? { path, namespace: 'by-require' } : null,
    );
    onLoad({ filter: /^/, namespace: 'by-require' }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
  },
};

/** Parts of packages that the service never uses, by path, and what stands for them. Each start would read and keep them. */
const unused = new Map([
  // The call sites of a logger, for a transport. Node parses the maps of the whole program for them.
  ['pino/lib/caller.js', 'module.exports = () => [];'],
  // Tables of encodings. The service takes UTF-8 alone.
  ['iconv-lite/encodings/dbcs-data.js', 'module.exports = {};'],
  ['iconv-lite/encodings/sbcs-data-generated.js', 'module.exports = {};'],
  // Messages in other languages.
  ['zod/v4/locales/index.js', "export { default as en } from './en.js';"],
]);
const withoutUnused = {
  name: 'without-unused',
  setup: ({ onLoad }) => {
    onLoad({ filter: new RegExp(`/(?:${[...unused.keys()].join('|')})$`) }, ({ path }) => {
      const contents = unused.get(path.split('/node_modules/').at(-1));
      return { contents, resolveDir: dirname(path) };
    });
  },
};

/** Sources that the build itself makes. */
const madeByClient = /^clients\/typescript\/src\/(document|idempotent-paths)\.ts$/;

const bench = 'test/bench';

const everyPart = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'scripts/build.mjs',
  'scripts/entries.mjs',
];
const bundledFile = 'dist/bundled.json';

const has = (option) => process.argv.includes(option);

await once('program', [...everyPart, 'scripts/build-docs-reader.mjs', 'src', 'projections'], async () => {
  const parts = [await buildProgram(), await buildPages()];
  prune(
    'chunks',
    parts.flatMap(({ outputs }) => Object.keys(outputs)),
  );
  // The next starts keep the compiled code of the new chunks.
  rmSync(join(compiled, 'compile-cache'), { recursive: true, force: true });
  buildDocsReader();
  const inputs = parts.flatMap(({ inputs }) => Object.keys(inputs));
  writeFileSync(join(root, bundledFile), JSON.stringify(packagesOf(inputs)));
});
const time = commitSeconds();
await once(
  'notices',
  [
    'package-lock.json',
    'docs/package-lock.json',
    'scripts/make-notices.mjs',
    'scripts/site-packages.mjs',
    bundledFile,
  ],
  () => makeNotices(JSON.parse(readFileSync(join(root, bundledFile), 'utf8')), time),
  String(time),
);
if (has('--packages') || has('--tests')) {
  await once(
    'client',
    [...everyPart, 'scripts/make-client.mjs', 'src', 'projections', 'clients/typescript/src'],
    async () => {
      const { makeClient } = await import('./make-client.mjs');
      await makeClient();
    },
  );
  copyToPackages();
}
if (has('--tests')) {
  await once('modules', [...everyPart, 'src', 'projections', 'test'], async () => {
    const outputs = await buildModules(['src', 'projections', 'test']);
    for (const folder of ['src', 'projections', 'test']) prune(folder, outputs);
  });
}
if (has('--bench')) {
  await once('bench', [...everyPart, bench], async () => {
    prune(bench, await buildModules([bench]));
  });
}

/** Runs a part when its sources differ from those of its last build, which a file in `dist` names. */
async function once(part, sources, make, setting = '') {
  const file = join(compiled, `${part}.digest`);
  const digest = digestOf(sources) + setting;
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
    plugins: [httpByRequire, withoutUnused],
    // Koa's packages bring the table of media types in four copies, which each start would read.
    alias: { 'mime-types': './node_modules/mime-types' },
    // The packages that an installation brings. libsql has a program for each machine. tinypool starts a file of its package. The
    // others are large and load only when the configuration asks for them. Every other package is bundled: a development dependency.
    external: Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies),
    // Packages in CommonJS load the modules of Node by `require`.
    banner: {
      js: "import { createRequire as makeRequire } from 'node:module';\nconst require = makeRequire(import.meta.url);",
    },
  });
  await build({ ...common, entryPoints: verifierEntry });
  copyFileSync(
    join(root, 'src/security/passwords/common-passwords.txt'),
    join(compiled, 'common-passwords.txt'),
  );
  return metafile;
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
  return metafile;
}

/** Returns the packages whose files a bundle contains, and that of the reader of /docs, by their keys in the lock file. */
function packagesOf(inputs) {
  const keys = inputs.flatMap((file) => {
    const [, key] = /(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
    return key === undefined ? [] : [key];
  });
  return [...new Set([...keys, 'node_modules/@scalar/api-reference'])].sort();
}

/** Returns the time of the commit in seconds; undefined where neither SOURCE_DATE_EPOCH nor a repository tells it. */
function commitSeconds() {
  const { SOURCE_DATE_EPOCH: epoch } = process.env;
  if (epoch !== undefined && epoch !== '') return Number(epoch);
  if (!existsSync(join(root, '.git'))) return undefined;
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? Number(stdout) : undefined;
}

/** Completes the folders of stowage-client and stowage-verify, which `npm pack` packs. */
function copyToPackages() {
  for (const folder of ['typescript', 'verify'])
    for (const file of ['LICENSE', 'NOTICE'])
      copyFileSync(join(root, file), join(root, 'clients', folder, file));
  const verifier = readFileSync(join(compiled, 'verify.js'), 'utf8');
  writeFileSync(
    join(root, 'clients/verify/verify.js'),
    verifier.replace(/^\/\/# sourceMappingURL=.*\n/m, ''),
  );
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
