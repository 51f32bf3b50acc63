// Which way imports point (docs: README, "Layout"). Type-only imports count: a type is knowledge of the other side too.
// A picture to keep legible, not a cage: when the work shows a better room for something, move it and change the rule
// in the same commit.

const ours = '^(src|projections|test)/';
const kernel = '^src/event-sourcing/';
/** What several aggregates share: field schemas, roles. */
const sharedDomain = '^src/domain/[^/]+\\.ts$';
/**
 * Pure folds that a view shows as they are: an order's status and figures follow from its facts by one rule, which a second
 * spelling in the view would only get to differ from. No decision is among them.
 */
const sharedFolds = '^src/domain/order/(state|facts|review|number)\\.ts$';
/** What puts the parts together: it alone may import everything. */
const entries = '^src/(main|cli|composition)(\\.ts$|/)';
/** What stored events are made of, with the words for it. */
const eventTypes = '^src/domain/[^/]+/(events|stream|provider|delivery|test-failure)\\.ts$';

/** `from` may import, of our own files, only what stands in `allowed` (and itself). */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: ours, pathNot: [from, ...allowed] },
});

/** Only files under `home` (and tests) may import the packages. */
const driver = (name, packages, home, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { pathNot: [home, '^test/'] },
  to: { path: `(^|/)node_modules/(@types/)?(${packages})/` },
});

module.exports = {
  forbidden: [
    only(
      'kernel-knows-nothing-of-ours',
      kernel,
      [],
      'The kernel serves any event-sourced service: a domain word or an adapter in it would bind them all.',
    ),
    {
      name: 'domain-imports-kernel-only',
      comment: 'Decisions are pure: whatever reaches further than the kernel could do I/O or see a request.',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { path: ours, pathNot: ['^src/domain/', kernel] },
    },
    {
      name: 'aggregates-are-apart',
      comment: 'An aggregate decides from its own stream alone; what needs two is a command or a reader.',
      severity: 'error',
      from: { path: '^src/domain/([^/]+)/' },
      to: { path: '^src/domain/', pathNot: ['^src/domain/$1/', sharedDomain] },
    },
    {
      name: 'shared-domain-knows-no-aggregate',
      comment: 'What all aggregates share may depend on none of them.',
      severity: 'error',
      from: { path: sharedDomain },
      to: { path: '^src/domain/[^/]+/' },
    },
    {
      name: 'pure-code-does-no-io',
      comment:
        'Decisions and folds run again at any time, in any process: files, sockets and threads are effects.',
      severity: 'error',
      from: { path: ['^src/domain/', kernel, '^projections/'] },
      to: {
        dependencyTypes: ['core'],
        path: '^(node:)?(fs|tls|dns|dgram|http|http2|https|child_process|worker_threads|cluster|process|sqlite)(/|$)',
      },
    },
    only(
      'projections-read-events-only',
      '^projections/',
      [eventTypes, sharedFolds, sharedDomain, kernel, '^src/keys/'],
      'A view is a fold of stored events: with the rules that decided them in reach it would decide again on replay.',
    ),
    {
      name: 'only-readers-open-sealed-values',
      comment: 'Sealed values pass through folds untouched, so that a destroyed key changes no document.',
      severity: 'error',
      from: { path: '^projections/', pathNot: '/reader\\.ts$' },
      to: { path: '^src/keys/' },
    },
    only(
      'commands-use-ports',
      '^src/commands/',
      [
        '^src/domain/',
        kernel,
        '^projections/[^/]+/reader\\.ts$',
        '^src/keys/',
        '^src/security/',
        '^src/integrations/',
      ],
      'A use case is the same whichever store, route, reaction or CLI stands around it.',
    ),
    {
      name: 'commands-know-integrations-by-type',
      comment: 'Which provider answers is chosen at start; a use case names only what it needs of one.',
      severity: 'error',
      from: { path: '^src/commands/' },
      to: { path: '^src/integrations/', dependencyTypesNot: ['type-only'] },
    },
    only(
      'reactions-issue-commands',
      '^src/reactions/',
      [
        '^src/commands/',
        '^projections/[^/]+/reader\\.ts$',
        '^src/security/',
        '^src/integrations/',
        eventTypes,
        sharedDomain,
        kernel,
      ],
      "A reaction turns an event into a command or an outside call; deciding is the use case's.",
    ),
    only(
      'http-calls-commands-and-readers',
      '^src/http/',
      [
        '^src/commands/',
        '^projections/[^/]+/reader\\.ts$',
        '^src/security/',
        '^src/domain/[^/]+/rejections\\.ts$',
        sharedDomain,
        kernel,
      ],
      'A route translates: with stores or decisions in reach, rules would grow in it that other callers lack.',
    ),
    only(
      'audit-reads-the-log',
      '^src/audit/',
      [kernel, '^src/keys/'],
      'The verifiable log covers every event alike and needs to understand none.',
    ),
    only(
      'stores-serve-ports',
      '^src/stores/',
      [kernel],
      'An adapter that knew the domain would have to change with it, and so would the others.',
    ),
    {
      name: 'adapters-are-apart',
      comment: 'Each adapter can be replaced or left out without touching another.',
      severity: 'error',
      from: { path: '^src/stores/([^/]+)/' },
      to: { path: '^src/stores/[^/]+/', pathNot: '^src/stores/$1/' },
    },
    only(
      'integrations-stand-alone',
      '^src/integrations/',
      [kernel, '^src/keys/', sharedDomain],
      'A provider is spoken to in its own words; who asks, and why, is not its business.',
    ),
    only(
      'control-carries-requests',
      '^src/control/',
      [kernel],
      'The socket carries requests of operators; what these do is given to it.',
    ),
    only(
      'keys-use-ports',
      '^src/keys/',
      [kernel],
      'Keys protect whatever is sealed with them, whoever sealed it.',
    ),
    only(
      'security-uses-keys',
      '^src/security/',
      [kernel, '^src/keys/'],
      'Passwords, tokens and limits are tools: routes and use cases decide where they apply.',
    ),
    {
      name: 'settings-are-arguments',
      comment:
        'Only the entries read the configuration; everything else is given what it needs, in tests too.',
      severity: 'error',
      from: { pathNot: [entries, '^src/config(/|\\.ts$)', '^test/'] },
      to: { path: '^src/config(\\.ts$|/)' },
    },
    {
      name: 'nothing-imports-the-entries',
      comment:
        'Entries put the parts together; a part that imported one could not be used without the whole.',
      severity: 'error',
      from: { pathNot: [entries, '^test/'] },
      to: { path: entries },
    },
    {
      name: 'nothing-imports-tests',
      comment: 'What ships must not need what does not.',
      severity: 'error',
      from: { path: '^(src|projections)/' },
      to: { path: '^test/' },
    },
    {
      name: 'no-cycles',
      comment: 'Files in a cycle can only be understood, tested and loaded together.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    driver(
      'libsql-in-embedded',
      'libsql|@libsql',
      '^src/stores/embedded/',
      'SQLite is an implementation detail of one adapter, with rules of its own (one writer, worker thread).',
    ),
    driver(
      'mongodb-in-its-adapter',
      'mongodb|bson',
      '^src/stores/mongodb/',
      'Its time limits and unknown outcomes are handled in one place.',
    ),
    driver(
      'eventstoredb-in-its-adapter',
      '@eventstore/db-client|@grpc/grpc-js|google-protobuf',
      '^src/stores/eventstoredb/',
      'Its pitfalls (one client a process, listeners in the same tick) are handled in one place.',
    ),
    driver(
      'koa-in-http',
      'koa|@koa/[^/]+|koa-[^/]+',
      '^src/http/',
      'A request or a reply must not travel further inwards than the shell.',
    ),
    driver(
      'jose-in-security',
      'jose',
      '^src/security/',
      'Which algorithms and claims are accepted is decided once.',
    ),
    driver(
      'nodemailer-in-mail',
      'nodemailer',
      '^src/integrations/mail/',
      'It is handed objects and texts only, and what it says of failures quotes addresses.',
    ),
    {
      name: 'production-code-needs-no-development-package',
      comment: 'It would fail where only production packages are installed.',
      severity: 'error',
      from: { path: '^(src|projections)/' },
      to: { dependencyTypes: ['npm-dev'], pathNot: '(^|/)node_modules/@types/' },
    },
    {
      name: 'packages-are-declared',
      comment: 'A package that only comes along with another one goes when that one no longer needs it.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'imports-resolve',
      comment: 'A file or package that is not there fails when the module is loaded, not before.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
