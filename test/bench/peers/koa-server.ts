import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import Koa from 'koa';
import Database from 'libsql';
import { listen, constantBody } from '../anchors.js';

// Koa that answers `/<size>` with so many bytes. A POST of it verifies a callback first and stores it as one durable row, as many
// rows in a transaction as arrive together: node koa-server.js <file of the database> <secret of Standard Webhooks> <of stripe>

const [file = '', standardSecret = '', stripeSecret = ''] = process.argv.slice(2);
const standardKey = Buffer.from(standardSecret.replace('whsec_', ''), 'base64');
const database = new Database(file);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE callbacks (number INTEGER PRIMARY KEY, id TEXT NOT NULL, body TEXT NOT NULL)');
const insert = database.prepare('INSERT INTO callbacks (id, body) VALUES (?, ?)');
let waiting: { readonly row: readonly [id: string, body: string]; readonly stored: () => void }[] = [];

const app = new Koa();
app.use(async (ctx) => {
  if (ctx.method === 'POST') {
    const chunks: Buffer[] = [];
    ctx.req.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(ctx.req, 'end');
    const body = Buffer.concat(chunks).toString();
    if (!isGenuine(ctx, body)) ctx.throw(401);
    const { id = ctx.get('webhook-id') } = JSON.parse(body) as { id?: string };
    await store(id, body);
  }
  ctx.type = 'json';
  ctx.body = constantBody(ctx.path);
});
process.send?.(await listen(app));
process.once('disconnect', () => process.exit());

function isGenuine(ctx: Koa.Context, body: string): boolean {
  const stripe = ctx.get('stripe-signature');
  if (stripe !== '') {
    const [, time = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(stripe) ?? [];
    return isEqual(createHmac('sha256', stripeSecret).update(`${time}.${body}`).digest('hex'), signature);
  }
  const signed = `${ctx.get('webhook-id')}.${ctx.get('webhook-timestamp')}.${body}`;
  const expected = createHmac('sha256', standardKey).update(signed).digest('base64');
  return isEqual(`v1,${expected}`, ctx.get('webhook-signature'));
}

function isEqual(expected: string, found: string): boolean {
  return expected.length === found.length && timingSafeEqual(Buffer.from(expected), Buffer.from(found));
}

/** Resolves when the row is on disk. */
function store(id: string, body: string): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.length === 0) setImmediate(commit);
    waiting.push({ row: [id, body], stored: resolve });
  });
}

function commit(): void {
  const batch = waiting;
  waiting = [];
  database.exec('BEGIN IMMEDIATE');
  for (const { row } of batch) insert.run(...row);
  database.exec('COMMIT');
  for (const { stored } of batch) stored();
}
