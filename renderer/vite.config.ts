import { fileURLToPath } from 'node:url';
import vue from '@vitejs/plugin-vue';
import { defineConfig, type Plugin } from 'vite';

/**
 * The host sends the same policy as a header; the copy in the page holds where a host forgets it. Build
 * only, because the development server injects its styles inline.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types vue monaco dompurify',
].join('; ');

const contentSecurityPolicy = (): Plugin => ({
  name: 'pilothouse:content-security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: CONTENT_SECURITY_POLICY },
      injectTo: 'head-prepend',
    },
  ],
});

export default defineConfig({
  base: './',
  plugins: [vue(), contentSecurityPolicy()],
  resolve: {
    alias: {
      // The YAML language service asks for a file that this version of the editor no longer has.
      'monaco-editor/esm/vs/editor/editor.worker.js': fileURLToPath(
        new URL('editor/worker-initialize.ts', import.meta.url),
      ),
    },
  },
  worker: { format: 'es' },
  define: {
    __VUE_OPTIONS_API__: 'false',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
  },
  build: {
    outDir: '../dist/renderer',
    emptyOutDir: true,
    target: 'chrome140',
    // The polyfill would be the page's only inline script.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // The manifest editor is one chunk of some megabytes, loaded when it is opened.
    chunkSizeWarningLimit: 8000,
    reportCompressedSize: true,
  },
});
