// The directions of imports: docs/design.md#import-rules. Type-only imports count, because a type is knowledge too.
// Change a rule in the same commit as the move that needs it.

const ours = '^(src|projections|test)/';
const kernel = '^src/event-sourcing/';
/** Interfaces of stores and clock, events and errors: the part of the kernel that adapters and pure code may know. */
const ports = '^src/event-sourcing/ports/';
/** Semaphores, queues, batches and the files of the package: no domain word, no store. */
const concurrency = '^src/(concurrency/|package-files\\.ts$)';
/** Field schemas, roles and scopes that several aggregates share. */
const sharedDomain = '^src/domain/[^/]+\\.ts$';
/** What is wrong with the fields of an input, in the words of every interface. */
const wordsOfProblems = '^src/domain/(field-problems|plain-words)\\.ts$';
/** Pure status machines and folds of facts that an aggregate and its view share. They contain no decision. */
const sharedFolds = '^src/domain/([^/]+/status|order/(review|number|unused)|project/open-offers)\\.ts$';
/** Closed lists of words that a route may name: statuses, reasons, rejection codes. */
const vocabulary = '^src/domain/[^/]+/(rejections|status|provider|delivery)\\.ts$';
/** The files that wire the parts. Only they may import everything. */
const entries = '^src/(main|cli|composition)(\\.ts$|/)';
/** The schemas of stored events, and the words in them. */
const eventTypes = '^src/domain/[^/]+/(events|provider|delivery|test-failure|test-warning)\\.ts$';
/** Typed queries over the views, their cursors, and the resources that they return. */
const readers = '^projections/([^/]+/(reader|resource)|readers|paging)\\.ts$';

/** Of the files of this repository, `from` may import only itself and `allowed`. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: ours, pathNot: [from, ...allowed] },
});

/** The signed log, which routes and operations serve as it is. */
const auditLog = '^src/audit/(?!verify/)';

/** The events behind the leaves, to which a reader adds words and views. */
const auditHistory = '^src/audit/(history|project-of)\\.ts$';

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
      'concurrency-stands-alone',
      concurrency,
      [],
      'A semaphore or a queue serves every folder and knows none of them.',
    ),
    only(
      'kernel-knows-nothing-of-ours',
      kernel,
      [concurrency],
      'The kernel serves any event-sourced service. A domain word or an adapter in it would bind them all.',
    ),
    only('ports-stand-alone', ports, [], 'Adapters and kernel agree on a port. It depends on neither.'),
    only(
      'following-uses-ports',
      '^src/event-sourcing/following/',
      [ports, concurrency],
      'Following reads the log. Its readers process the events.',
    ),
    only(
      'views-follow',
      '^src/event-sourcing/views/',
      [ports, concurrency, '^src/event-sourcing/(following|sharing)/'],
      'Views follow the log and fold it. They know neither commands nor reactions.',
    ),
    only(
      'sharing-uses-ports',
      '^src/event-sourcing/sharing/',
      [ports],
      'Processes share parts by their names. What a part does is no matter of theirs.',
    ),
    only(
      'shared-state-uses-ports',
      '^src/event-sourcing/shared-state/',
      [ports],
      'A change of a shared record needs the state store alone, so every folder may use it.',
    ),
    only(
      'deciding-writes-views-through',
      '^src/event-sourcing/deciding/',
      [ports, concurrency, '^src/event-sourcing/(following|views)/'],
      'The command handler writes documents through. It knows no reaction.',
    ),
    only(
      'audit-proves-the-log',
      auditLog,
      [kernel, concurrency, '^src/keys/'],
      'The proof covers events of any type. Code that knew the domain would change the proof with it.',
    ),
    {
      name: 'verifier-imports-node-only',
      comment:
        'The verifier is a second implementation. Code that it shared with the log would hide a mistake in both.',
      severity: 'error',
      from: { path: '^src/audit/verify/' },
      to: { dependencyTypesNot: ['core'] },
    },
    {
      name: 'page-scripts-stand-alone',
      comment: 'Browsers run these modules: they have neither our code nor that of Node.',
      severity: 'error',
      from: { path: '^src/http/pages/browser/' },
      to: { pathNot: '^src/http/pages/browser/' },
    },
    {
      name: 'domain-imports-kernel-only',
      comment: 'Decisions are pure: code that imports more than the kernel could do I/O or see a request.',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { path: ours, pathNot: ['^src/domain/', kernel] },
    },
    {
      name: 'aggregates-are-apart',
      comment: 'An aggregate decides from its own stream alone. A command or a reader joins two of them.',
      severity: 'error',
      from: { path: '^src/domain/([^/]+)/' },
      to: { path: '^src/domain/', pathNot: ['^src/domain/$1/', sharedDomain] },
    },
    {
      name: 'shared-domain-knows-no-aggregate',
      comment: 'Code that all aggregates share depends on none of them.',
      severity: 'error',
      from: { path: sharedDomain },
      to: { path: '^src/domain/[^/]+/' },
    },
    {
      name: 'pure-code-does-no-io',
      comment:
        'Decisions and folds run again at any time, in any process. Files, sockets and threads are effects.',
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
      [eventTypes, sharedFolds, sharedDomain, kernel, auditHistory, '^src/keys/'],
      'A view folds stored events. With decisions in reach it would decide again when it replays.',
    ),
    {
      name: 'only-readers-read-the-audit-history',
      comment: 'A fold that read other places of the log would not be the fold of its stream.',
      severity: 'error',
      from: { path: '^projections/', pathNot: readers },
      to: { path: '^src/audit/' },
    },
    {
      name: 'only-readers-open-sealed-values',
      comment: 'Sealed values pass through folds untouched, so that a destroyed key changes no document.',
      severity: 'error',
      from: { path: '^projections/', pathNot: readers },
      to: { path: '^src/keys/' },
    },
    only(
      'commands-use-ports',
      '^src/commands/',
      ['^src/domain/', kernel, concurrency, readers, '^src/keys/', '^src/security/', '^src/integrations/'],
      'A use case is the same for every store, route, reaction and command line.',
    ),
    {
      name: 'areas-share-through-shared',
      comment: 'The shared folder serves every area of commands, so it depends on none.',
      severity: 'error',
      from: { path: '^src/commands/shared/' },
      to: { path: '^src/commands/', pathNot: '^src/commands/(shared/|deps\\.ts$)' },
    },
    {
      name: 'commands-know-integrations-by-type',
      comment: 'The start chooses the provider. A use case names only the functions that it needs.',
      severity: 'error',
      from: { path: '^src/commands/' },
      to: {
        path: '^src/integrations/',
        // Texts of mails are pure. The class of an error tells a refused mail from a mail server that is away.
        pathNot:
          '^src/integrations/mail/(errors|messages|member-messages|payment-reviews|security-notices|share-messages)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    only(
      'reactions-issue-commands',
      '^src/reactions/',
      ['^src/commands/', readers, '^src/security/', '^src/integrations/', eventTypes, sharedDomain, kernel],
      'A reaction turns an event into a command or an outside call. The use case decides.',
    ),
    only(
      'prober-reports-checks',
      '^src/prober/',
      ['^src/commands/', readers, kernel],
      'A prober turns the answer of a node into a command. The use case counts it, as it counts those of agents.',
    ),
    only(
      'webhooks-send-events',
      '^src/webhooks/',
      ['^src/domain/', kernel, concurrency, '^src/integrations/outgoing/'],
      'A message holds facts of one stream. With readers or commands in reach it would change after the event.',
    ),
    only(
      'http-calls-commands-and-readers',
      '^src/http/',
      [
        '^src/commands/',
        readers,
        '^src/security/',
        '^src/observing/',
        auditLog,
        vocabulary,
        sharedDomain,
        kernel,
        concurrency,
      ],
      'A route translates. With stores or decisions in reach, rules would grow in it that other callers lack.',
    ),
    only(
      'observing-reads-state',
      '^src/observing/',
      [kernel, concurrency],
      'Health and metrics report the state of the kernel and of its stores.',
    ),
    only(
      'stores-serve-ports',
      '^src/stores/',
      [ports, concurrency, '^src/event-sourcing/following/'],
      'An adapter that knew the domain would have to change with it, and so would the others.',
    ),
    {
      name: 'adapters-are-apart',
      comment: 'Each adapter can be replaced or left out without a change to another.',
      severity: 'error',
      from: { path: '^src/stores/([^/]+)/' },
      to: { path: '^src/stores/[^/]+/', pathNot: '^src/stores/$1/' },
    },
    only(
      'integrations-stand-alone',
      '^src/integrations/',
      [kernel, concurrency, '^src/keys/', sharedDomain],
      'An integration uses the terms of a provider. It does not know its caller.',
    ),
    only(
      'control-carries-requests',
      '^src/control/[^/]+\\.ts$',
      [ports, concurrency, wordsOfProblems],
      'The socket carries requests of operators, and says what is wrong with them. The entries pass the operations to it.',
    ),
    only(
      'operations-call-commands-and-readers',
      '^src/control/operations/',
      [
        '^src/control/',
        '^src/commands/',
        readers,
        auditLog,
        '^src/webhooks/',
        '^src/keys/',
        '^src/domain/',
        kernel,
      ],
      'An operation translates, as a route does. The same use cases serve both.',
    ),
    only('keys-use-ports', '^src/keys/', [kernel, concurrency], 'Keys protect every sealed value alike.'),
    only(
      'security-uses-keys',
      '^src/security/',
      // The table of guessing contains the bounds of mailed codes, by which the domain decides.
      [kernel, concurrency, '^src/keys/', '^src/domain/mailed-code\\.ts$'],
      'Passwords, tokens and limits are tools: routes and use cases decide where they apply.',
    ),
    {
      name: 'settings-are-arguments',
      comment:
        'Only the entries read the configuration. All other code takes settings as arguments, in tests too.',
      severity: 'error',
      from: { pathNot: [entries, '^src/config(/|\\.ts$)', '^test/'] },
      to: { path: '^src/config(\\.ts$|/)' },
    },
    {
      name: 'nothing-imports-the-entries',
      comment: 'Entries wire the parts. A part that imported one could not be used without the whole.',
      severity: 'error',
      from: { pathNot: [entries, '^test/'] },
      to: { path: entries },
    },
    {
      name: 'nothing-imports-tests',
      comment: 'The package contains no test, so the code in it must not need one.',
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
      'SQLite is an implementation detail of one adapter, which has special rules (one writer, worker thread).',
    ),
    driver(
      'mongodb-in-its-adapter',
      'mongodb|bson',
      '^src/stores/mongodb/',
      'One place handles its time limits and unknown outcomes.',
    ),
    driver(
      'eventstoredb-in-its-adapter',
      '@eventstore/db-client|@grpc/grpc-js|google-protobuf',
      '^src/stores/eventstoredb/',
      'One place handles its pitfalls (one client per process, listeners in the same tick).',
    ),
    driver(
      'koa-in-http',
      'koa|@koa/[^/]+|koa-[^/]+',
      '^src/http/',
      'Only the HTTP folder knows requests and replies.',
    ),
    driver(
      'jose-in-security',
      'jose',
      '^src/security/',
      'One place decides which algorithms and claims are valid.',
    ),
    driver(
      'nodemailer-in-mail',
      'nodemailer',
      '^src/integrations/mail/',
      'It receives objects and texts only, and its error messages quote addresses.',
    ),
    {
      name: 'production-code-needs-no-development-package',
      comment: 'Such code would fail where only production packages are installed.',
      severity: 'error',
      from: { path: '^(src|projections)/' },
      to: { dependencyTypes: ['npm-dev'], pathNot: '(^|/)node_modules/@types/' },
    },
    {
      name: 'packages-are-declared',
      comment: 'An undeclared package disappears when the package that brings it no longer needs it.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'imports-resolve',
      comment: 'A missing file or package would fail only when a process loads the module.',
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
