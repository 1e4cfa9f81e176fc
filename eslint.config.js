import js from '@eslint/js';
import ts from 'typescript-eslint';

/** The house's import rules, one entry a room: which of our packages its files may load. */
const mayImport = [
  { files: ['packages/contracts/src/**'], allowed: [] },
  { files: ['packages/runtime/src/**'], allowed: [] },
  { files: ['packages/postgres/src/**'], allowed: ['runtime'] },
  { files: ['packages/http/src/**'], allowed: ['contracts', 'runtime'] },
  { files: ['packages/messaging/src/**'], allowed: ['contracts', 'runtime', 'postgres'] },
  { files: ['packages/chain-reader/src/**'], allowed: ['contracts', 'runtime'] },
  { files: ['packages/checkout-page/src/**'], allowed: ['contracts'] },
  { files: ['packages/local-backends/src/**'], allowed: ['contracts'] },
  { files: ['packages/ops/src/**'], allowed: ['contracts', 'runtime', 'http', 'messaging'] },
  {
    files: ['packages/testkit/src/**'],
    allowed: ['contracts', 'runtime', 'postgres', 'messaging', 'local-backends'],
  },
  { files: ['infra/local/**'], ignores: ['**/test/**'], allowed: ['contracts', 'local-backends'] },
  {
    files: ['services/*/src/**'],
    allowed: ['contracts', 'runtime', 'postgres', 'messaging', 'http', 'chain-reader', 'checkout-page'],
  },
  { files: ['services/*/src/state.ts'], allowed: ['contracts'], onlyThose: true },
];

/** A path that climbs out of its own `src` has to go down through another one, or through a folder of the top. */
const intoAnotherRoom = {
  regex: '^(\\.\\./)+(.*/)?(src|test|packages|services|infra|tests)/',
  message: 'Import another room by its package name, so that the import rules see it.',
};

/** Only these files of a service talk to its database. */
const databaseFiles = [
  'services/*/src/store.ts',
  'services/*/src/store/**',
  'services/*/src/queries.ts',
  'services/*/src/queries/**',
  'services/*/src/main.ts',
  'services/*/src/migrate.ts',
];

const databaseImports = {
  regex: '^(pg$|@prisma/|(\\.\\./)+generated/)',
  allowTypeImports: true,
  message: 'Only store, queries, main and migrate load pg or Prisma.',
};

function importRule({ files, ignores = [], allowed, onlyThose = false }) {
  const ours = allowed.length === 0 ? '^@quittance/' : `^@quittance/(?!(${allowed.join('|')})/)`;
  const patterns = [
    { regex: ours, message: `This room may import ${allowed.join(', ') || 'none of our packages'}.` },
    intoAnotherRoom,
  ];
  if (onlyThose) patterns.push({ regex: '^(?!@quittance/)', message: 'state.ts is pure: it imports only contracts.' });
  else if (files[0].startsWith('services/')) patterns.push(databaseImports);
  return { files, ignores, rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] } };
}

const services = mayImport.find(({ files }) => files[0] === 'services/*/src/**');

export default ts.config(
  { ignores: ['**/node_modules/', '**/generated/', '.local/', 'coverage/', '**/assets/*.js', '**/in-page/*.js'] },
  js.configs.recommended,
  ...ts.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js', '*.mjs', 'infra/local/*.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      eqeqeq: 'error',
      // Our objects are closures; none of their methods needs a `this`.
      '@typescript-eslint/unbound-method': 'off',
      'max-depth': ['error', 4],
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      // Numbers and booleans read well in messages; everything else must be turned into text on purpose.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // A handler that has nothing to await still returns a promise, because its frame expects one.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  ...mayImport.map(importRule),
  { ...importRule(services), files: databaseFiles, rules: withoutDatabaseRule(services) },
  {
    files: [
      'services/*/src/**',
      'packages/{contracts,runtime,postgres,messaging,http,chain-reader,checkout-page}/src/**',
    ],
    // The frame of a process gives its environment to its config.ts.
    ignores: ['services/*/src/config.ts', 'packages/runtime/src/service.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Settings are read in config.ts only.' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'ImportExpression', message: 'The import rules see static imports only.' },
        {
          selector: 'ImportDeclaration[source.value=/^(node:)?process$/]',
          message: 'Use the global `process`, on which the rules keep an eye.',
        },
      ],
    },
  },
  {
    // Test bodies are long lists of steps, and a describe block holds them all.
    files: ['**/*.test.ts', '**/test/**', 'tests/**'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      // What shape an answer has is what the test says about it.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
    },
  },
  {
    // Command lines talk to a person on the terminal.
    files: ['infra/local/**', 'packages/{ops,local-backends}/src/**', 'tests/**'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    ...ts.configs.disableTypeChecked,
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
  },
);

function withoutDatabaseRule({ files, allowed }) {
  const rule = importRule({ files, allowed }).rules['@typescript-eslint/no-restricted-imports'];
  const patterns = rule[1].patterns.filter((pattern) => pattern !== databaseImports);
  return { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] };
}
