import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../dist/public', import.meta.url));
const document = readFileSync(`${root}/index.html`, 'utf8');
const files = readdirSync(`${root}/assets`);
const read = (name: string): Buffer => readFileSync(`${root}/assets/${name}`);

it('the first view takes less than 100 KB of script, compressed', () => {
  const scripts = [...document.matchAll(/src="\/assets\/([^"]+\.js)"/g)].map(([, name]) => name ?? '');
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = scripts.reduce((sum, name) => sum + gzipSync(read(name)).length, 0);
  expect(bytes).toBeLessThan(100_000);
});

it('nothing stands inline: the policy would not let it run', () => {
  expect(document).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style="/);
});

it('each file’s compressed form is that file', () => {
  const sources = files.filter((name) => /\.(js|css)$/.test(name));
  expect(sources.length).toBeGreaterThan(2);
  for (const name of sources) expect(gunzipSync(read(`${name}.gz`)).equals(read(name))).toBe(true);
});
