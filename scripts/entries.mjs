// What the build makes of more than one module: the file in `dist` without `.js`, and the module at which it begins.

/** The program, and its worker threads beside it. They share chunks. */
export const programEntries = {
  cli: 'src/cli.ts',
  'writer-thread': 'src/stores/embedded/writing/writer-thread.ts',
  'scrub-thread': 'src/stores/embedded/documents/scrub-thread.ts',
  'catch-up-thread': 'src/composition/tasks/catch-up-thread.ts',
  'hash-worker': 'src/security/passwords/hash-worker.ts',
};

/** The scripts of the pages for browsers. A page contains its script as text. */
export const pageEntries = {
  'pages/audit': 'src/areas/audit/page/browser/main.ts',
  'pages/share': 'src/areas/shares/page/browser/visit.ts',
};

/** A program of one file for auditors, who may run a copy of it elsewhere. */
export const verifierEntry = { verify: 'src/areas/audit/verify.ts' };
