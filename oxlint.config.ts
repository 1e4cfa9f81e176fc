import { defineConfig } from 'oxlint';

/** A path that climbs out of its own `src` has to go down through another one, or through a folder of the top. */
const intoAnotherRoom = {
  regex: '^(\\.\\./)+(.*/)?(src|test|packages|services|infra|tests)/',
  message: 'Import another room by its package name.',
};

const errors = (...rules: string[]) => Object.fromEntries(rules.map((rule) => [rule, 'error' as const]));
const off = (...rules: string[]) => Object.fromEntries(rules.map((rule) => [rule, 'off' as const]));

/** What no value of an unknown type may get into. */
const unsafe = ['argument', 'assignment', 'call', 'enum-comparison', 'function-type', 'member-access', 'return'];

export default defineConfig({
  plugins: ['typescript'],
  // Runs a rule of ESLint that oxlint has not.
  jsPlugins: [{ name: 'eslint-js', specifier: 'oxlint-plugin-eslint' }],
  options: { typeAware: true, typeCheck: true },
  env: { builtin: true },
  ignorePatterns: [
    '**/node_modules/',
    '**/generated/',
    '.local/',
    'coverage/',
    'packages/sdk/src/openapi.ts',
    '**/assets/*.js',
    '**/in-page/*.js',
    // Files of shops that are written as their framework wants them.
    'tests/integrations/*-shop/',
  ],
  categories: { correctness: 'error' },
  rules: {
    ...errors(
      'eqeqeq',
      'no-array-constructor',
      'no-case-declarations',
      'no-console',
      'no-empty',
      'no-fallthrough',
      'no-prototype-builtins',
      'no-regex-spaces',
      'no-unexpected-multiline',
      'no-useless-assignment',
      'no-useless-constructor',
      'no-var',
      'prefer-const',
      'prefer-rest-params',
      'prefer-spread',
      'preserve-caught-error',
    ),
    ...errors(...unsafe.map((what) => `typescript/no-unsafe-${what}`)),
    ...errors(
      'typescript/ban-ts-comment',
      'typescript/no-deprecated',
      'typescript/no-dynamic-delete',
      'typescript/no-empty-object-type',
      'typescript/no-explicit-any',
      'typescript/no-extraneous-class',
      'typescript/no-generated-empty-object-type',
      'typescript/no-invalid-void-type',
      'typescript/no-misused-promises',
      'typescript/no-mixed-enums',
      'typescript/no-namespace',
      'typescript/no-non-null-asserted-nullish-coalescing',
      'typescript/no-non-null-assertion',
      'typescript/no-require-imports',
      'typescript/no-unnecessary-boolean-literal-compare',
      'typescript/no-unnecessary-condition',
      'typescript/no-unnecessary-template-expression',
      'typescript/no-unnecessary-type-arguments',
      'typescript/no-unnecessary-type-assertion',
      'typescript/no-unnecessary-type-constraint',
      'typescript/no-unnecessary-type-conversion',
      'typescript/no-unnecessary-type-parameters',
      'typescript/only-throw-error',
      'typescript/prefer-literal-enum-member',
      'typescript/prefer-promise-reject-errors',
      'typescript/prefer-reduce-type-parameter',
      'typescript/prefer-return-this-type',
      'typescript/related-getter-setter-pairs',
      'typescript/switch-exhaustiveness-check',
      'typescript/unified-signatures',
      'typescript/use-unknown-in-catch-callback-variable',
    ),
    'max-depth': ['error', 4],
    'max-lines': ['error', { max: 400 }],
    'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    // A property that is taken out only to leave it out of the rest.
    'no-unused-vars': ['error', { ignoreRestSiblings: true }],
    'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
    'typescript/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    'typescript/restrict-plus-operands': [
      'error',
      { allowAny: false, allowBoolean: false, allowNullish: false, allowNumberAndString: false, allowRegExp: false },
    ],
    // Numbers and booleans read well in messages; everything else must be turned into text on purpose.
    'typescript/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    // Our objects are closures; none of their methods needs a `this`.
    ...off('typescript/unbound-method', 'typescript/require-array-sort-compare'),
  },
  overrides: [
    {
      // Which room may load which is held by .dependency-cruiser.mjs.
      files: ['{packages,services}/*/src/**', 'infra/local/**'],
      excludeFiles: ['**/test/**'],
      rules: { 'no-restricted-imports': ['error', { patterns: [intoAnotherRoom] }] },
    },
    {
      files: [
        'services/*/src/**',
        'packages/{contracts,runtime,postgres,messaging,http,chain-reader,checkout-page,markdown}/src/**',
      ],
      // The frame of a process gives its environment to its config.ts.
      excludeFiles: ['services/*/src/config.ts', 'packages/runtime/src/process.ts'],
      rules: {
        'no-restricted-properties': [
          'error',
          { object: 'process', property: 'env', message: 'Settings are read in config.ts only.' },
        ],
        'eslint-js/no-restricted-syntax': [
          'error',
          {
            selector: "ImportExpression[source.type!='Literal']",
            message: 'The import rules see only imports of what is named on the spot.',
          },
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
      rules: off(
        'max-lines-per-function',
        'typescript/no-non-null-assertion',
        'typescript/no-unsafe-assignment',
        'typescript/no-unsafe-member-access',
        'typescript/no-unsafe-argument',
        // What shape an answer has is what the test says about it.
        'typescript/no-unnecessary-type-parameters',
      ),
    },
    {
      // Command lines talk to a person on the terminal.
      files: ['.ci/**', 'infra/local/**', 'packages/{ops,local-backends,example-shop}/src/**', 'tests/**'],
      rules: { 'no-console': 'off' },
    },
    {
      files: ['**/*.js', '**/*.mjs'],
      globals: { process: 'readonly', console: 'readonly' },
      rules: {
        'no-undef': 'error',
        ...off(...unsafe.map((what) => `typescript/no-unsafe-${what}`)),
        ...off('typescript/restrict-plus-operands'),
      },
    },
    { files: ['packages/integrations/*/admin/*.mjs'], globals: { fetch: 'readonly' } },
    {
      // The compiler writes the types of constructors for NestJS, which finds by them what to hand over.
      files: ['packages/integrations/vendure/src/*.ts'],
      rules: off('typescript/consistent-type-imports'),
    },
  ],
});
