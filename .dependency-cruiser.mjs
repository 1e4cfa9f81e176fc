/**
 * The walls of the house, checked by `npm run lint`. Imports run one way: services use packages, packages use the packages below them,
 * and inside each of them an import goes down a floor or stays on its own. Type-only imports count as much as others: whoever needs
 * a type depends on the file that has it.
 */

/** Which packages of ours each package may load. */
const packagesBelow = {
  contracts: [],
  runtime: [],
  'local-backends': ['contracts'],
  'checkout-page': ['contracts'],
  postgres: ['contracts', 'runtime'],
  http: ['contracts', 'runtime'],
  'chain-reader': ['contracts', 'runtime'],
  messaging: ['contracts', 'runtime', 'postgres'],
  operator: ['contracts', 'runtime', 'http'],
  ops: ['contracts', 'runtime', 'http', 'messaging', 'chain-reader', 'operator'],
  testkit: ['contracts', 'runtime', 'postgres', 'messaging', 'local-backends'],
  // Merchants install it alone.
  sdk: [],
  mcp: ['sdk'],
  // An optional process of ours that receives webhooks as a merchant's program does.
  notifier: ['checkout-page', 'contracts', 'runtime', 'postgres', 'http', 'sdk'],
  // It shows what a merchant's own program has to do.
  'example-shop': ['sdk'],
  // Merchants install them in their shops. They find the SDK in the registry.
  'integrations/medusa': ['sdk'],
  'integrations/vendure': ['sdk'],
};

const packagesOfServices = [
  'contracts',
  'runtime',
  'postgres',
  'messaging',
  'http',
  'chain-reader',
  'checkout-page',
  'operator',
];

/** Floors inside a package, the lowest first. A folder that is not named here belongs to no floor. */
const floorsOfPackages = {
  contracts: [['messages'], ['http']],
  messaging: [['broker'], ['outbox', 'dead-letter'], ['consumer']],
  http: [['server', 'client']],
  'chain-reader': [['receipts'], ['rpc'], ['chain']],
  ops: [['archive', 'network-check']],
};

/** What a request or a message enters a service by: `http.ts` and `messages.ts` of a noun, or the folders of services without nouns. */
const folders = '(routes|handlers|loops)';
const entriesOf = (src) => [`^${src}/[a-z-]+/(http|messages)\\.ts$`, `^${src}/${folders}/`];

/** What writes SQL: `*.sql.ts` of a noun, or the folders of services without nouns. */
const sqlOf = (src) => [`^${src}/.*\\.sql\\.ts$`, `^${src}/(store|queries)(/|\\.ts$)`];

const stateOf = (src) => [`^${src}/state\\.ts$`, `^${src}/[a-z-]+/state\\.ts$`];

const anySource = 'services/[^/]+/src';
/** Of the service that a rule's `from` has matched. */
const sameSource = 'services/$1/src';

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const ourCode = '^(packages|services|infra|tests)/';

const betweenPackages = Object.entries(packagesBelow).map(([name, below]) =>
  rule(
    `${name}-loads-only-packages-below`,
    `packages/${name} may load ${below.join(', ') || 'no package of ours'}.`,
    { path: `^packages/${name}/src/` },
    { path: ourCode, pathNot: `^packages/(${[name, ...below].join('|')})/src/` },
  ),
);

/** No folder loads one of a floor above it, nor a neighbour on its own floor. */
const insidePackages = Object.entries(floorsOfPackages).flatMap(([name, floors]) =>
  floors.flatMap((floor, height) =>
    floor.map((folder) => {
      const notBelow = [...floor.filter((other) => other !== folder), ...floors.slice(height + 1).flat()];
      return rule(
        `${name}-${folder}-loads-only-floors-below`,
        `packages/${name}/src/${folder} must not load ${notBelow.join(', ')}.`,
        { path: `^packages/${name}/src/${folder}/` },
        { path: `^packages/${name}/src/(${notBelow.join('|')})/` },
      );
    }),
  ),
);

const insideServices = [
  rule(
    'service-loads-no-other-service',
    'Services talk by messages and HTTP. What two of them need belongs in a package.',
    { path: '^services/([^/]+)/src/' },
    { path: ourCode, pathNot: `^(services/$1/(src|generated)|packages/(${packagesOfServices.join('|')})/src)/` },
  ),
  rule(
    'nobody-loads-main',
    'main.ts constructs everything and is loaded by nothing.',
    { path: '^services/([^/]+)/src/' },
    { path: '^services/$1/src/main\\.ts$' },
  ),
  rule(
    'only-main-loads-an-entry',
    'What two routes, handlers or loops share is a rule, and has a file of its own.',
    { path: '^services/([^/]+)/src/', pathNot: [`^${anySource}/(main|app)\\.ts$`, `^${anySource}/${folders}/`] },
    { path: entriesOf(sameSource) },
  ),
  rule(
    'entry-loads-no-other-kind-of-entry',
    'Routes, handlers and loops load none of another folder.',
    { path: `^services/([^/]+)/src/${folders}/` },
    { path: entriesOf(sameSource), pathNot: `^${sameSource}/$2/` },
  ),
  rule(
    'sql-loads-no-rule',
    'SQL is the lowest floor but for the pure state machine.',
    { path: sqlOf('services/([^/]+)/src') },
    { path: '^services/', pathNot: [...sqlOf(sameSource), ...stateOf(sameSource), '^services/$1/generated/'] },
  ),
  rule(
    'state-is-pure',
    'A state machine knows no I/O: it loads contracts alone.',
    { path: stateOf(anySource) },
    { pathNot: '^packages/contracts/src/' },
  ),
  rule(
    'only-sql-talks-to-the-database',
    'Only what writes SQL, and main, loads pg or Prisma.',
    { path: `^${anySource}/`, pathNot: [...sqlOf(anySource), `^${anySource}/main\\.ts$`] },
    { path: '(^|/)node_modules/(pg|@prisma)/|^services/[^/]+/(src/)?generated/', dependencyTypesNot: ['type-only'] },
  ),
];

export default {
  forbidden: [
    rule('no-circle', 'Two files that need each other are one, or hide a third.', {}, { circular: true }),
    ...betweenPackages,
    ...insidePackages,
    ...insideServices,
    rule(
      'single-loads-services-whole',
      'One process of all services starts each as its own process would.',
      { path: '^infra/single/' },
      { path: ourCode, pathNot: '^(infra/single/|services/[^/]+/src/main\\.ts$|packages/(contracts|runtime)/src/)' },
    ),
    rule(
      'local-stack-loads-only-what-it-starts',
      'The local stack starts services as programs and loads none.',
      { path: '^infra/local/', pathNot: '/test/' },
      {
        path: ourCode,
        pathNot:
          '^(infra|packages/(contracts|postgres|local-backends)/src)/|^packages/(runtime/src/(amqp-urls|trust|logger)|http/src/call-token|messaging/src/broker/set-up)\\.ts$',
      },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules|/generated/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
