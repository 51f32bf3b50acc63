// Which test files share a process: starting one and loading its modules costs more than the tests of most files.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a process. More would keep too much in memory at once, and the last process would run alone for long. */
const filesMax = 54;

/** What a file costs, in files: one of embedded stores starts many threads, and waits for the disk. */
const weightOf = (file) => (file.startsWith('test/stores/embedded/') ? 5 : 1);

/**
 * Tests that would disturb others in their process or be disturbed: pauses of tenths of a second, calls with a limit of seconds,
 * signals of the process, the count of all that the engine runs, and titles that another room has too.
 */
const alone =
  /^test\/(contracts\/|end-to-end\/|upgrades\/|outside-readers\.|mail\/mailer\.|http\/server\/raw-socket\.|areas\/audit\/verify\/verify-program\.|stores\/mongodb\/large\.)/;

/** Writes the groups of files into `dist/groups` below a root, one module a process. Returns their paths from the root. */
export function writeGroups(root, files) {
  const folder = join(root, 'dist', 'groups');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return groupsOf(files).map(({ name, members }, index) => {
    const file = `group-${name}-${index + 1}.test.js`;
    const imports = members.map((member) => `import '../${member.replace(/\.ts$/, '.js')}';\n`);
    writeFileSync(join(folder, file), ["import '../../scripts/test-turns.mjs';\n", ...imports].join(''));
    return `dist/groups/${file}`;
  });
}

/** Fills each process with a large room and with small ones. The largest begin first and single files last, so that the end of the run is short. */
function groupsOf(files) {
  const [apart, others] = [
    files.filter((file) => alone.test(file)),
    files.filter((file) => !alone.test(file)),
  ];
  const rooms = [...groupBy(others, roomOf)].flatMap(([name, members]) =>
    evenParts(members).map((part) => ({ name, members: part })),
  );
  const filled = [];
  for (const room of rooms.sort((a, b) => weigh(b.members) - weigh(a.members))) {
    const fitting = filled.find(({ members }) => weigh(members) + weigh(room.members) <= filesMax);
    if (fitting === undefined) filled.push(room);
    else fitting.members.push(...room.members);
  }
  const nameOf = (file) => file.replace('.test.ts', '').replaceAll('/', '-');
  return [...filled, ...apart.map((file) => ({ name: nameOf(file), members: [file] }))];
}

function weigh(files) {
  return files.reduce((sum, file) => sum + weightOf(file), 0);
}

function evenParts(members) {
  const size = Math.ceil(members.length / Math.ceil(members.length / filesMax));
  return Array.from({ length: Math.ceil(members.length / size) }, (_, part) =>
    members.slice(part * size, (part + 1) * size),
  );
}

function roomOf(file) {
  const [, room, area, layer] = file.split('/');
  if (room !== 'areas') return room.replace('.test.ts', '');
  return /^(domain|commands|reactions|routes)$/.test(layer) ? `areas-${layer}` : `areas-${area}`;
}

function groupBy(items, keyOf) {
  const grouped = new Map();
  for (const item of items) grouped.set(keyOf(item), [...(grouped.get(keyOf(item)) ?? []), item]);
  return grouped;
}
