import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openReader } from '../../../src/stores/embedded/files/database.js';

/** Returns the rows of all databases of a directory that no process uses, and the text of its other files. */
export function dumpDirectory(directory: string): Readonly<Record<string, unknown>> {
  const names = readdirSync(directory)
    .filter((name) => !name.startsWith('lock.db') && !/-(wal|shm)$/.test(name))
    .toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(directory, name);
      return [name, name.endsWith('.db') ? dumpDatabase(path) : readFileSync(path, 'latin1')];
    }),
  );
}

function dumpDatabase(path: string): Readonly<Record<string, string>> {
  const connection = openReader(path);
  const tables = connection
    .query<readonly [Buffer]>(
      "SELECT CAST(name AS BLOB) FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    )
    .all();
  const rows = tables.map(([name]) => {
    const all = connection.query(`SELECT * FROM "${name.toString()}"`).all();
    return [
      name.toString(),
      JSON.stringify(all, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ];
  });
  connection.close();
  return Object.fromEntries(rows) as Record<string, string>;
}
