import js from '@eslint/js';
import ts from 'typescript-eslint';

/** A path that climbs out of its own `src` has to go down through another one, or through a folder of the top. */
const intoAnotherRoom = {
  regex: '^(\\.\\./)+(.*/)?(src|test|packages|services|infra|tests)/',
  message: 'Import another room by its package name.',
};

export default ts.config(
  {
    ignores: [
      '**/node_modules/',
      '**/generated/',
      '.local/',
      'coverage/',
      'packages/sdk/src/openapi.ts',
      '**/assets/*.js',
      '**/in-page/*.js',
    ],
  },
  js.configs.recommended,
  ...ts.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: ['*.js', '*.mjs', 'infra/local/*.mjs', 'tests/mutants/*.js', '.ci/*.mjs'],
        },
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
      // A property that is taken out only to leave it out of the rest.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      // Numbers and booleans read well in messages; everything else must be turned into text on purpose.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // A handler that has nothing to await still returns a promise, because its frame expects one.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    // Which room may load which is held by .dependency-cruiser.mjs.
    files: ['{packages,services}/*/src/**', 'infra/local/**'],
    ignores: ['**/test/**'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns: [intoAnotherRoom] }] },
  },
  {
    files: [
      'services/*/src/**',
      'packages/{contracts,runtime,postgres,messaging,http,chain-reader,checkout-page,markdown}/src/**',
    ],
    // The frame of a process gives its environment to its config.ts.
    ignores: ['services/*/src/config.ts', 'packages/runtime/src/process.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Settings are read in config.ts only.' },
      ],
      'no-restricted-syntax': [
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
    files: ['.ci/**', 'infra/local/**', 'packages/{ops,local-backends,example-shop}/src/**', 'tests/**'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    ...ts.configs.disableTypeChecked,
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
  },
);
