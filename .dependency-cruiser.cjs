// The directions of imports: docs/architecture.md#rooms-in-their-order. Type-only imports count, because a type is knowledge too.
// Change a rule in the same commit as the move that needs it.

const ours = '^(src|projections|test)/';
const kernel = '^src/event-sourcing/';
/** Interfaces of stores, events and errors: the part of the kernel that adapters and pure code may know. */
const ports = '^src/event-sourcing/ports/';
/** Clocks, semaphores, caches and the files of the package: no domain word, no store. */
const kit = '^src/(kit/|package-files\\.ts$)';
/** Field schemas, and what is wrong with the fields of an input in the words of every interface. */
const validation = '^src/validation/';
/** Pure decisions and folds of an area, one folder an aggregate. */
const domain = '^src/areas/[^/]+/domain/';
/** Rules and words that several aggregates of an area share: files beside the folders, and folders without a stream. */
const sharedDomain = [
  '^src/areas/[^/]+/domain/[^/]+\\.ts$',
  '^src/areas/[^/]+/domain/(bucket|delivery|factors)/',
];
/** Pure status machines and folds of facts that an aggregate and its view share. They contain no decision. */
const sharedFolds = [
  '^src/areas/[^/]+/domain/[^/]+/fold\\.ts$',
  '^src/areas/payments/domain/order/(review|unused)\\.ts$',
  '^src/areas/projects/domain/project/open-offers\\.ts$',
];
/** Closed lists of words that a route may name: statuses, reasons, rejection codes. */
const vocabulary = '^src/areas/[^/]+/domain/[^/]+/(rejections|fold|delivery)\\.ts$';
/** The files that wire the parts. Only they may import everything. */
const entries = '^src/(main\\.ts$|cli(\\.ts$|/)|composition/|operating/(backup|replay)/)';
/** The schemas of stored events, and the words in them. */
const eventTypes = '^src/areas/[^/]+/domain/[^/]+/(events|delivery|test-failure)\\.ts$';
/** Typed queries over the views, their cursors, and the resources that they return. */
const readers = [
  '^projections/[^/]+/(reader|resource)\\.ts$',
  '^projections/[^/]+/[^/]+/(reader|resource|checks)\\.ts$',
  '^projections/(readers|paging)\\.ts$',
];
/** Use cases and reactions, by area and subject, and what they share. */
const commands = [
  '^src/areas/[^/]+/commands/',
  '^src/areas/shared/',
  '^src/areas/[^/]+/deps\\.ts$',
  '^src/areas/(commands|rejections)\\.ts$',
  '^src/areas/audit/restart-audit-log\\.ts$',
];
/** Routes and pages of the areas. */
const routes = '^src/areas/[^/]+/(routes|page)/';
/** What speaks the terms of a provider: buckets, payment platforms, mail servers, and the way to hosts outside. */
const providers = '^src/(areas/(storages/bucket|payments/platforms)|mail|outgoing)/';
/** Texts of mails: pure functions. */
const messages =
  '^src/areas/(accounts/mail/|projects/commands/member-messages|payments/commands/deciding/payment-reviews|shares/commands/mails/share-messages)';

/** Of the files of this repository, `from` may import only itself and `allowed`. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: ours, pathNot: [from, ...allowed].flat() },
});

/** The signed log, which routes and operations serve as it is. */
const auditLog = '^src/areas/audit/(tree|signing|history)/';

/** The events behind the leaves, to which a reader adds words and views. */
const auditHistory = '^src/areas/audit/history/(history|project-of)\\.ts$';

/** Only files under `home` (and tests) may import the packages. */
const driver = (name, packages, home, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { pathNot: [home, '^test/'] },
  to: { path: `(^|/)node_modules/(@types/)?(${packages})/` },
});

/** The order of the areas: each may import those that are named, and what all share. */
const areasBelow = {
  shared: [],
  accounts: [],
  projects: ['accounts'],
  storages: ['accounts', 'projects'],
  payments: ['accounts', 'projects'],
  assets: ['accounts', 'projects', 'storages', 'payments'],
  shares: ['accounts', 'projects', 'storages', 'payments', 'assets'],
  nodes: ['accounts', 'projects', 'storages', 'payments', 'assets'],
  audit: ['accounts', 'projects', 'storages', 'payments', 'assets', 'shares', 'nodes'],
};

module.exports = {
  forbidden: [
    ...Object.entries(areasBelow).map(([area, below]) => ({
      name: `${area}-in-the-order-of-areas`,
      comment: 'An area that knew one above it could not be read, tested or changed without it.',
      severity: 'error',
      from: { path: `^(src/areas|projections)/${area}/` },
      to: {
        path: '^(src/areas|projections)/[^/]+/',
        pathNot: `^(src/areas|projections)/(${[area, 'shared', ...below].join('|')})/`,
      },
    })),
    {
      name: 'areas-import-no-sum-of-areas',
      comment:
        'Commands, collaborators, rejections and readers of all areas are for what puts them together.',
      severity: 'error',
      from: { path: '^(src/areas|projections)/[^/]+/' },
      to: { path: '^(src/areas/[^/]+|projections/(index|readers))\\.ts$' },
    },
    only('kit-stands-alone', kit, [], 'A semaphore or a cache serves every folder and knows none of them.'),
    only(
      'kernel-knows-nothing-of-ours',
      kernel,
      [kit],
      'The kernel serves any event-sourced service. A domain word or an adapter in it would bind them all.',
    ),
    only('ports-stand-alone', ports, [kit], 'Adapters and kernel agree on a port. It depends on neither.'),
    only(
      'feeding-knows-views',
      '^src/event-sourcing/feeding/',
      [ports, kit, '^src/event-sourcing/views/'],
      'Feeding reads the log and folds it into views. It knows neither commands nor effects.',
    ),
    only(
      'views-fold-events',
      '^src/event-sourcing/views/',
      [ports, kit, '^src/event-sourcing/feeding/'],
      'A view is a fold of events. It knows neither commands nor effects.',
    ),
    only(
      'deciding-writes-views-through',
      '^src/event-sourcing/deciding/',
      [ports, kit, '^src/event-sourcing/(feeding|views)/'],
      'The command handler writes documents through. It knows no reaction.',
    ),
    only(
      'audit-proves-the-log',
      auditLog,
      [kernel, kit, '^src/keys/'],
      'The proof covers events of any type. Code that knew the domain would change the proof with it.',
    ),
    {
      name: 'verifier-imports-node-only',
      comment:
        'The verifier is a second implementation. Code that it shared with the log would hide a mistake in both.',
      severity: 'error',
      from: { path: '^src/areas/audit/verify\\.ts$' },
      to: { dependencyTypesNot: ['core'] },
    },
    {
      name: 'page-scripts-stand-alone',
      comment: 'Browsers run these modules: they have neither our code nor that of Node.',
      severity: 'error',
      from: { path: '^src/.*/browser/' },
      to: { pathNot: '^src/.*/browser/' },
    },
    {
      name: 'domain-imports-kernel-only',
      comment: 'Decisions are pure: code that imports more than the kernel could do I/O or see a request.',
      severity: 'error',
      from: { path: domain },
      to: {
        path: ours,
        pathNot: [
          domain,
          kernel,
          validation,
          // Pure functions of times.
          '^src/kit/time/clock\\.ts$',
          // The bounds of mailed codes are those of guessing, by which the domain decides.
          '^src/security/guessing/mailed-code\\.ts$',
          // One list names the payment platforms: docs/decisions/platforms.md#0134-a-platform-is-a-folder.
          '^src/areas/payments/platforms/platforms?\\.ts$',
        ],
      },
    },
    {
      name: 'aggregates-are-apart',
      comment: 'An aggregate decides from its own stream alone. A command or a reader joins two of them.',
      severity: 'error',
      from: { path: '^src/areas/([^/]+)/domain/([^/]+)/', pathNot: sharedDomain },
      to: { path: domain, pathNot: ['^src/areas/$1/domain/$2/', ...sharedDomain] },
    },
    {
      name: 'pure-code-does-no-io',
      comment:
        'Decisions and folds run again at any time, in any process. Files, sockets and threads are effects.',
      severity: 'error',
      from: { path: [domain, kernel, '^projections/'] },
      to: {
        dependencyTypes: ['core'],
        path: '^(node:)?(fs|tls|dns|dgram|http|http2|https|child_process|worker_threads|cluster|process|sqlite)(/|$)',
      },
    },
    only(
      'projections-read-events-only',
      '^projections/',
      [eventTypes, ...sharedFolds, ...sharedDomain, validation, kernel, kit, auditHistory, '^src/keys/'],
      'A view folds stored events. With decisions in reach it would decide again when it replays.',
    ),
    {
      name: 'only-readers-read-the-audit-history',
      comment: 'A fold that read other places of the log would not be the fold of its stream.',
      severity: 'error',
      from: { path: '^projections/', pathNot: readers },
      to: { path: auditLog },
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
      commands,
      [domain, validation, kernel, kit, readers, '^src/(keys|security)/', providers, messages],
      'A use case is the same for every store, route, reaction and command line.',
    ),
    {
      name: 'commands-know-providers-by-type',
      comment: 'The start chooses the provider. A use case names only the functions that it needs.',
      severity: 'error',
      from: { path: commands, pathNot: messages },
      to: {
        path: providers,
        dependencyTypesNot: ['type-only'],
      },
    },
    only(
      'prober-reports-checks',
      '^src/areas/nodes/prober\\.ts$',
      [commands, readers, kernel, kit],
      'A prober turns the answer of a node into a command. The use case counts it, as it counts those of agents.',
    ),
    only(
      'webhooks-send-events',
      '^src/webhooks/',
      [domain, validation, kernel, kit, '^src/outgoing/'],
      'A message holds facts of one stream. With readers or commands in reach it would change after the event.',
    ),
    only(
      'routes-call-commands-and-readers',
      routes,
      [
        commands,
        readers,
        '^src/http/',
        auditLog,
        vocabulary,
        sharedDomain,
        validation,
        kernel,
        kit,
        '^src/log-output\\.ts$',
      ],
      'A route translates. With stores or decisions in reach, rules would grow in it that other callers lack.',
    ),
    only(
      'http-is-a-shell',
      '^src/http/',
      [
        readers,
        '^src/security/',
        '^src/observing/',
        '^src/areas/(shared/|rejections\\.ts$)',
        sharedDomain,
        validation,
        kernel,
        kit,
        '^src/version\\.ts$',
      ],
      'The shell checks, limits and answers any request. It knows no route of an area.',
    ),
    only(
      'observing-reads-state',
      '^src/observing/',
      [kernel, kit],
      'Health and metrics report the state of the kernel and of its stores.',
    ),
    only(
      'stores-serve-ports',
      '^src/stores/',
      [ports, kit, '^src/event-sourcing/feeding/'],
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
      'providers-stand-alone',
      providers,
      [kernel, kit, '^src/keys/', sharedDomain, validation],
      'Code of a provider uses its terms. It does not know its caller.',
    ),
    only(
      'socket-carries-requests',
      '^src/operating/socket/',
      [ports, kit, '^src/http/', '^src/security/rates/'],
      'The socket serves routes through the shell of HTTP, and makes their actor. The entries pass the routes to it.',
    ),
    only(
      'operators-call-commands-and-readers',
      '^src/operating/routes/',
      [
        '^src/http/',
        routes,
        commands,
        readers,
        auditLog,
        '^src/(webhooks|keys)/',
        domain,
        validation,
        kernel,
        kit,
      ],
      'A route of operators translates, as every route does. The same use cases serve both.',
    ),
    only('keys-use-ports', '^src/keys/', [kernel, kit], 'Keys protect every sealed value alike.'),
    only(
      'security-uses-keys',
      '^src/security/',
      [kernel, kit, '^src/keys/'],
      'Passwords, tokens and limits are tools: routes and use cases decide where they apply.',
    ),
    {
      name: 'settings-are-arguments',
      comment:
        'Only the entries read the configuration. All other code takes settings as arguments, in tests too.',
      severity: 'error',
      from: { pathNot: [entries, '^src/config/', '^test/'] },
      to: { path: '^src/config/' },
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
      'Only the shell knows requests and replies.',
    ),
    driver(
      'jose-in-security',
      'jose',
      '^src/security/',
      'One place decides which algorithms and claims are valid.',
    ),
    driver(
      'saxes-in-its-reader',
      'saxes',
      '^src/areas/storages/bucket/objects/xml\\.ts$',
      'One reader bounds what a bucket answers. A second one would need the same bounds.',
    ),
    driver(
      'opentelemetry-in-traces',
      '@opentelemetry/[^/]+',
      '^src/kit/trace\\.ts$',
      'One place decides what spans name: never a URL, an address or a text of a person.',
    ),
    driver(
      'nodemailer-in-mail',
      'nodemailer',
      '^src/mail/',
      'It receives objects and texts only, and its error messages quote addresses.',
    ),
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
      // The peer of a benchmark runs in a folder into which the benchmark installs its packages.
      from: { pathNot: '^test/bench/peers/better-auth-server[.]mjs$' },
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
