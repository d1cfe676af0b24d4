import vue from 'eslint-plugin-vue';
import ts from 'typescript-eslint';
import pilothouse from './resources/lint/plugin.mjs';
import { PURE_ZONES } from './resources/lint/zones.mjs';

const PURE_GLOBALS = [
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'process',
  'crypto',
  'Buffer',
  'fetch',
];

export default ts.config(
  { ignores: ['core/pure-globals.d.ts', 'dist/', 'release/', 'node_modules/', '**/generated/', '.cache/'] },
  {
    files: ['core/**/*.ts', 'main/**/*.ts', 'renderer/**/*.ts', 'renderer/**/*.vue', 'test/**/*.ts'],
    extends: ts.configs.recommended,
    plugins: { pilothouse },
    languageOptions: {
      parserOptions: { parser: ts.parser, projectService: true, extraFileExtensions: ['.vue'] },
    },
    rules: {
      'pilothouse/import-zones': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-empty-object-type': 'off',
      'no-empty': ['error', { allowEmptyCatch: false }],
      eqeqeq: 'error',
    },
  },
  {
    files: ['renderer/**/*.ts', 'renderer/**/*.vue'],
    extends: [vue.configs['flat/recommended']],
    languageOptions: {
      parserOptions: { parser: ts.parser, projectService: true, extraFileExtensions: ['.vue'] },
    },
    rules: {
      // The formatter decides these.
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-self-closing': 'off',
      'vue/html-indent': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/multi-word-component-names': 'off',
      'vue/require-default-prop': 'off',
    },
  },
  {
    files: PURE_ZONES.map((zone) => (zone === 'core/base' ? `${zone}/*.ts` : `${zone}/**/*.ts`)),
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...PURE_GLOBALS.map((name) => ({ name, message: 'pure zones take it as an input' })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'pure zones take Random as an input' },
      ],
    },
  },
);
