// What the build makes of more than one module: the file in `dist` without `.js`, and the module at which it begins.

/** The program, and its worker threads beside it. They share chunks. */
export const programEntries = {
  cli: 'src/cli.ts',
  'writer-thread': 'src/stores/embedded/writer-thread.ts',
  'catch-up-thread': 'src/composition/catch-up-thread.ts',
  'hash-worker': 'src/security/hash-worker.ts',
};

/** The scripts of the pages for browsers. A page contains its script as text. */
export const pageEntries = {
  'pages/audit': 'src/http/pages/browser/audit/main.ts',
  'pages/share': 'src/http/pages/browser/share/visit.ts',
};

/** A program of one file for auditors, who may run a copy of it elsewhere. */
export const verifierEntry = { verify: 'src/audit/verify/verify.ts' };
