import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Beside each file its compressed forms, made once here and not for every browser. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    // After all others: until then a file is not what it will be.
    order: 'post',
    handler(_options, bundle) {
      for (const [fileName, file] of Object.entries(bundle)) {
        if (!/\.(js|css|svg)$/.test(fileName)) continue;
        const source = file.type === 'chunk' ? file.code : file.source;
        this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source: brotliCompressSync(source) });
        this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gzipSync(source) });
      }
    },
  },
};

/** The page, into dist/public: names with a hash of their content, so that browsers may keep them for ever. */
export default defineConfig({
  root: fileURLToPath(new URL('page', import.meta.url)),
  publicDir: false,
  logLevel: 'warn',
  plugins: [compressed],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('dist/public', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    // Nothing inline: the content security policy allows none.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
