import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';
import { boundaries } from './scripts/boundaries.mjs';
import { noBarePauses } from './scripts/no-bare-pauses.mjs';
import { sqlInStores } from './scripts/sql-in-stores.mjs';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/generated/**',
      '**/node_modules/**',
      '**/corpora/**',
      '.nx/**',
      'scripts/*/new/**',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.mjs', 'scripts/*.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
      globals: {
        process: 'readonly',
        Buffer: 'readonly',
        console: 'readonly',
        module: 'readonly',
        URL: 'readonly',
        WebAssembly: 'readonly',
      },
    },
  },
  {
    files: ['**/*.ts'],
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        { enforceBuildableLibDependency: false, allow: [], depConstraints: boundaries },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      'no-console': 'error',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
      'no-restricted-syntax': [
        'error',
        {
          selector: "MemberExpression[object.name='process'][property.name='env']",
          message: 'Only main.ts reads the environment, through @dak/platform/config.',
        },
      ],
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      'no-control-regex': 'off',
    },
  },
  {
    // Entry points read the environment and may print; tests and benches may do both.
    files: [
      '**/main.ts',
      '**/migrate.ts',
      '**/parked.ts',
      '**/standalone/src/retention.ts',
      'apps/*/src/commands/*.ts',
      '**/sink.ts',
      '**/superadmin.ts',
      '**/backup/{backup,restore}.ts',
      '**/*.spec.ts',
      '**/test/**/*.ts',
      'e2e/**/*.ts',
      '**/bench/**/*.ts',
      'libs/testing/**/*.ts',
      'libs/platform/lifecycle/**/*.ts',
      'libs/platform/embedded-postgres/**/*.ts',
    ],
    rules: { 'no-restricted-syntax': 'off', 'no-console': 'off' },
  },
  {
    files: [
      '**/*.spec.ts',
      '**/test/**/*.ts',
      'e2e/**/*.ts',
      '**/bench/**/*.ts',
      'libs/testing/**/*.ts',
    ],
    rules: {
      'max-lines': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'no-restricted-exports': 'off',
    },
  },
  sqlInStores,
  noBarePauses,
  { files: ['**/*.mjs', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
  prettier,
);
