// Starts the service and, beside it, this example: npm run example. Mails with their codes are in the output.
// PORT and DATA_DIR are those of the service; EXAMPLE_PORT is the port of the example, 8081 by default.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { URL } from 'node:url';

const root = join(import.meta.dirname, '..', '..');
const { PORT = '8080', EXAMPLE_PORT = '8081' } = process.env;
const service = `http://127.0.0.1:${PORT}`;
const here = `http://127.0.0.1:${EXAMPLE_PORT}`;
const folders = {
  '/client/': join(root, 'clients', 'typescript', 'dist'),
  '/openapi-fetch/': join(root, 'node_modules', 'openapi-fetch', 'dist'),
  '/': import.meta.dirname,
};
const types = { html: 'text/html', js: 'text/javascript', mjs: 'text/javascript' };

const child = spawn(process.execPath, [join(root, 'dist', 'src', 'cli.js'), 'serve'], {
  // ALLOWED_ORIGINS names the example, so that the service checks whether buckets take its uploads.
  env: {
    ...{ SMTP_URL: 'log:', STORAGE_ALLOWED_CIDRS: '127.0.0.0/8', ...process.env },
    ...{ PORT, ALLOWED_ORIGINS: here },
  },
  stdio: 'inherit',
});

const server = createServer((request, response) => {
  void reply(new URL(request.url, here).pathname).then(
    ([type, body]) =>
      response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' }).end(body),
    () => response.writeHead(404).end(),
  );
});
server.once('error', ({ message }) => {
  console.error(`The example does not start: ${message}`);
  process.exitCode = 1;
  child.kill();
});
server.listen(Number(EXAMPLE_PORT), '127.0.0.1', () => console.log(`The example is at ${here}`));

async function reply(path) {
  if (path === '/settings.json') return ['application/json', JSON.stringify({ url: service })];
  const [prefix, folder] = Object.entries(folders).find(([one]) => path.startsWith(one));
  const name = path.slice(prefix.length) || 'index.html';
  // A name has no folder, so it does not leave its own.
  if (!/^[\w-]+(\.[\w-]+)*$/.test(name)) throw new Error('no such file');
  return [types[name.split('.').at(-1)] ?? 'application/octet-stream', await readFile(join(folder, name))];
}

// Both end together.
child.once('exit', (code) => {
  server.close();
  server.closeAllConnections();
  process.exitCode ||= code ?? 1;
});
process.on('SIGTERM', () => child.kill());
// The terminal sends Ctrl-C to the service too, which takes a second signal as "exit at once".
process.on('SIGINT', () => undefined);
