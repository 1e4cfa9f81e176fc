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
  markdown: ['checkout-page'],
  postgres: ['contracts', 'runtime'],
  http: ['contracts', 'runtime'],
  'chain-reader': ['contracts', 'runtime'],
  messaging: ['contracts', 'runtime', 'postgres'],
  ops: ['contracts', 'runtime', 'http', 'messaging', 'chain-reader'],
  testkit: ['contracts', 'runtime', 'postgres', 'messaging', 'local-backends'],
  // Merchants install it alone.
  sdk: [],
  // It shows what a merchant's own program has to do.
  'example-shop': ['sdk'],
};

const packagesOfServices = [
  'contracts',
  'runtime',
  'postgres',
  'messaging',
  'http',
  'chain-reader',
  'checkout-page',
  'markdown',
];

/** Floors inside a package, the lowest first. A folder that is not named here belongs to no floor. */
const floorsOfPackages = {
  contracts: [['messages'], ['http']],
  messaging: [['broker'], ['outbox', 'dead-letter'], ['consumer']],
  http: [['server', 'client']],
  'chain-reader': [['rpc'], ['chain']],
  ops: [['views'], ['commands']],
};

/** What a request, a message or the time enters a service by. */
const entries = 'routes|handlers|loops|jobs';

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
    'entry-loads-no-other-entry',
    'What routes, handlers, loops and jobs share is a rule, and has a folder of its own.',
    { path: `^services/([^/]+)/src/(${entries})/` },
    { path: `^services/$1/src/(${entries})/`, pathNot: '^services/$1/src/$2/' },
  ),
  rule(
    'rule-loads-no-entry',
    'Rules do not know by what they are entered.',
    { path: '^services/([^/]+)/src/', pathNot: `^services/[^/]+/src/(main\\.ts$|(${entries})/)` },
    { path: `^services/$1/src/(${entries})/` },
  ),
  rule(
    'store-loads-no-rule',
    'Stores and queries are the lowest floor but for the pure state machine.',
    { path: '^services/([^/]+)/src/(store|queries)(/|\\.ts$)' },
    { path: '^services/', pathNot: '^services/$1/src/((store|queries)(/|\\.ts$)|state\\.ts$)|^services/$1/generated/' },
  ),
  rule(
    'state-is-pure',
    'A state machine knows no I/O: it loads contracts alone.',
    { path: '^services/[^/]+/src/state\\.ts$' },
    { pathNot: '^packages/contracts/src/' },
  ),
  rule(
    'only-stores-talk-to-the-database',
    'Only store, queries and main load pg or Prisma.',
    { path: '^services/[^/]+/src/', pathNot: '^services/[^/]+/src/((store|queries)(/|\\.ts$)|main\\.ts$)' },
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
          '^(infra|packages/(contracts|postgres|local-backends)/src)/|^packages/(runtime/src/(trust|logger)|http/src/call-token|messaging/src/broker/set-up)\\.ts$',
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
