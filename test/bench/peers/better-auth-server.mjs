// Better Auth on node:sqlite, durable, and with a session that each check renews. It runs in the folder where its package is installed:
// node better-auth-server.mjs <file of the database> <port>
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';

const [file, port] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
const auth = betterAuth({
  database,
  baseURL: `http://127.0.0.1:${port}`,
  secret: 'a secret of the benchmark, of no use elsewhere',
  emailAndPassword: { enabled: true },
  session: { updateAge: 0 },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
});
const { runMigrations } = await getMigrations(auth.options);
await runMigrations();
createServer(toNodeHandler(auth)).listen(Number(port), '127.0.0.1');
