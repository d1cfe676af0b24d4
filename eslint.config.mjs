import vue from 'eslint-plugin-vue';
import ts from 'typescript-eslint';
import pilothouse from './resources/lint/plugin.mjs';

/**
 * The pages, templates included, without types. TypeScript files are held by .oxlintrc.json, and what needs types is
 * held there for both: resources/lint/README.md.
 */
export default ts.config(
  { ignores: ['dist/', 'release/', 'node_modules/', '**/generated/', '.cache/'] },
  {
    files: ['renderer/**/*.vue'],
    extends: ts.configs.recommended,
    plugins: { pilothouse },
    rules: {
      'pilothouse/import-zones': 'error',
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
    languageOptions: { parserOptions: { parser: ts.parser } },
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
      // The compiler decides this with types (noImplicitReturns): a switch over all cases returns.
      'vue/return-in-computed-property': 'off',
    },
  },
);
