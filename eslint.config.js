import js from '@eslint/js';
import ava from 'eslint-plugin-ava';
import prettier from 'eslint-config-prettier';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  {
    ignores: [
      '**/dist/',
      'clients/typescript/src/document.ts',
      'clients/verify/verify.js',
      'node_modules/',
      'data/',
      '.cache/',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: false, allowDefaultCaseForExhaustiveSwitch: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allow: ['bigint'] }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // A callback of one call needs no block.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // An exhaustive switch over a union counts as one decision.
      complexity: ['error', { max: 12, variant: 'modified' }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'max-depth': ['error', 4],
    },
  },
  {
    // The scripts of pages have one project, which knows the DOM.
    files: ['src/**/browser/**/*.ts'],
    languageOptions: {
      parserOptions: { projectService: false, project: 'src/http/pages/browser/tsconfig.json' },
    },
  },
  {
    // Decisions and projections are pure: the clock, ids and randomness are arguments.
    files: ['src/areas/*/domain/**/*.ts', 'projections/**/projection.ts', 'src/event-sourcing/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'Take the time as an argument.',
        },
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: 'Take the time as an argument.',
        },
        {
          selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
          message: 'Take randomness as an argument.',
        },
      ],
    },
  },
  {
    // One place names every setting, checks it and reports its problems.
    files: ['src/**/*.ts', 'projections/**/*.ts'],
    ignores: ['src/config/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only the configuration reads the environment.' },
      ],
    },
  },
  {
    files: ['test/**/*.test.ts'],
    extends: [ava.configs.recommended[0]],
    rules: {
      // The rule compares these files with those that AVA runs, and AVA runs their compiled form.
      'ava/no-ignored-test-files': 'off',
      // TypeScript checks the arguments. A message that is made from the current case is useful.
      'ava/assertion-arguments': 'off',
      // Tables and generated cases are asserted in loops.
      'ava/no-conditional-assertion': 'off',
      'ava/no-inline-assertions': 'off',
      // AVA fails a test without assertions. A test that only asserts that nothing throws says so.
      'ava/no-useless-t-pass': 'off',
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: { 'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: { process: 'readonly', console: 'readonly', fetch: 'readonly', module: 'writable' },
    },
  },
  {
    // The script of the example runs in browsers.
    files: ['examples/web/app.js'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'FormData',
          'File',
          'crypto',
          'document',
          'fetch',
          'localStorage',
          'sessionStorage',
          'setTimeout',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  prettier,
);
