// Starts all that the example needs: the service, a bucket for trying and this page. npm run example
// PORT (8090) is the page; the service is on the port after it, the bucket on the next one. DATA_DIR (data/example) keeps what they store.
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { URL } from 'node:url';
import { openBucket } from '../s3-server.mjs';

const root = join(import.meta.dirname, '..', '..');
const cli = join(root, 'dist', 'cli.js');
const { PORT = '8090', DATA_DIR = join('data', 'example') } = process.env;
const [here, service, endpoint] = [0, 1, 2].map((more) => `http://127.0.0.1:${Number(PORT) + more}`);
const [bucket, region] = ['example', 'us-east-1'];
const bucketFolder = join(DATA_DIR, 'example-bucket');
const logFile = join(DATA_DIR, 'service.log');
const env = {
  ...{ SMTP_URL: 'log:', STORAGE_ALLOWED_CIDRS: '127.0.0.0/8', ...process.env },
  // ALLOWED_ORIGINS names the page, so that the service checks whether the bucket takes its uploads.
  ...{
    HOST: '127.0.0.1',
    PORT: String(Number(PORT) + 1),
    DATA_DIR,
    ALLOWED_ORIGINS: here,
    PUBLIC_URL: service,
  },
};
const folders = {
  '/client/': join(root, 'clients', 'typescript', 'dist'),
  '/openapi-fetch/': join(root, 'node_modules', 'openapi-fetch', 'dist'),
  '/': import.meta.dirname,
};
const types = { html: 'text/html', css: 'text/css', js: 'text/javascript', mjs: 'text/javascript' };

let child = null;
process.on('SIGTERM', () => child?.kill());
// The terminal sends Ctrl-C to the service too, which takes a second signal as "exit at once".
process.on('SIGINT', () => undefined);
try {
  await start();
} catch (error) {
  console.error(`The example does not start: ${error.message}. PORT=<number> chooses other ports.`);
  await stop(1);
}

async function start() {
  await mkdir(bucketFolder, { recursive: true, mode: 0o700 });
  const keys = await keysOfBucket(join(bucketFolder, 'keys'));
  const page = await readFile(join(import.meta.dirname, 'index.html'), 'utf8');
  const s3 = await openBucket({ directory: bucketFolder, bucket, region, keys, origin: here });
  for (const [server, url] of [
    [createServer(answer), here],
    [s3, endpoint],
  ]) {
    server.listen(Number(new URL(url).port), '127.0.0.1');
    await once(server, 'listening');
  }
  child = spawn(process.execPath, ['--enable-source-maps', cli, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(logFile, { flags: 'a' });
  for (const output of [child.stdout, child.stderr]) output.pipe(log, { end: false });
  child.once('exit', (code) => stop(code ?? 1));
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`the service has ended; ${logFile} says why`);
    await wait(100);
  }
  console.log(
    `Open ${here} in your browser. Ctrl-C ends the example.\nThe log of the service is in ${logFile}`,
  );

  /** Serves the page, its modules and its settings, and plays the operator who allows a project to bind the bucket. */
  function answer(request, response) {
    const [path] = request.url.split('?');
    const reply = path === '/bucket' ? allow(request) : fileOf(path);
    reply.then(
      ([type, body]) => response.writeHead(200, headersOf(type)).end(body),
      (error) => response.writeHead(error.status ?? 404, headersOf('text/plain')).end(error.message),
    );
  }

  async function allow(request) {
    // Another page of the reader's browser must not have the keys, also not by a name that leads to this address.
    if (request.headers.origin !== here || request.headers.host !== new URL(here).host)
      throw new Error('not for other pages');
    const chunks = await request.toArray();
    const { project_id: id } = JSON.parse(Buffer.concat(chunks));
    if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error('no id of a project');
    const grant = spawn(process.execPath, [cli, 'project', 'grant', id, 'allow_s3'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, [code]] = await Promise.all([grant.stderr.toArray(), once(grant, 'close')]);
    if (code !== 0) throw Object.assign(new Error(Buffer.concat(said).toString()), { status: 500 });
    return [
      'application/json',
      JSON.stringify({ endpoint, region, bucket, access_key: keys.id, secret_key: keys.secret }),
    ];
  }

  function headersOf(type) {
    const [, importMap] = /<script type="importmap">([^]*?)<\/script>/.exec(page);
    const digest = createHash('sha256').update(importMap).digest('base64');
    const policy = `default-src 'self'; script-src 'self' 'sha256-${digest}'; connect-src 'self' ${service} ${endpoint}; img-src data:`;
    return {
      'content-type': `${type}; charset=utf-8`,
      'content-security-policy': policy,
      'cache-control': 'no-cache',
    };
  }
}

async function fileOf(path) {
  if (path === '/settings.json') return ['application/json', JSON.stringify({ url: service, endpoint })];
  const [prefix, folder] = Object.entries(folders).find(([one]) => path.startsWith(one));
  const name = path.slice(prefix.length) || 'index.html';
  // A name has no folder, so it does not leave its own.
  if (!/^[\w-]+(\.[\w-]+)*$/.test(name)) throw new Error('no such file');
  return [types[name.split('.').at(-1)] ?? 'application/octet-stream', await readFile(join(folder, name))];
}

/** The keys stay, because the storages of an earlier run are bound by them. */
async function keysOfBucket(file) {
  const made = { id: 'EXAMPLE', secret: randomBytes(30).toString('base64url') };
  await writeFile(file, JSON.stringify(made), { flag: 'wx', mode: 0o600 }).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return JSON.parse(await readFile(file, 'utf8'));
}

function isReady() {
  return fetch(`${service}/readyz`).then(
    (reply) => reply.ok,
    () => false,
  );
}

/** All end together. */
async function stop(code) {
  if (child !== null && child.exitCode === null && child.signalCode === null) {
    child.kill();
    await once(child, 'exit');
  }
  process.exit(code);
}
