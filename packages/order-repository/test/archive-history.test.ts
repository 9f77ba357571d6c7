import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodeHistory, encodeHistory } from '../src/archive-history.ts';
import { historyOfVersion1 } from './history-of-version-1.ts';

const bytesOf = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const jsonOf = (history: Buffer): string => inflateSync(history.subarray(4)).toString();
const historyOf = (json: string): Buffer => Buffer.concat([Buffer.alloc(4), deflateSync(json)]);

/** What was written then. A fixture that changes is no fixture: add one of another version instead. */
const digests = {
  'history-before-versions.bytes': '8da2f69b6dc2f9f968a2c8431455fc7f0ffe5bee93ed2e3dc147690f53153a5f',
  'history-version-1.bytes': '84caa02a1b98504d372a9cbe627ee92537a813ae273c4aed3b5e3f2226cdc487',
};

describe('the history of an archived order', () => {
  test.each(Object.entries(digests))('of %s is read as the rows it was written of', (name, digest) => {
    expect(createHash('sha256').update(bytesOf(name)).digest('hex')).toBe(digest);
    expect(decodeHistory(bytesOf(name))).toEqual(historyOfVersion1);
  });

  test('is written as version 1: who changes its bytes raises the version, and keeps reading this one', () => {
    const bytes = bytesOf('history-version-1.bytes');
    expect(jsonOf(encodeHistory(historyOfVersion1))).toBe(jsonOf(bytes));
    expect(bytes.readUInt32LE(0)).toBe(jsonOf(bytes).length);
  });

  test('of a later version is refused, not taken for this one', () => {
    const later = jsonOf(bytesOf('history-version-1.bytes')).replace('"version":1', '"version":2');
    expect(() => decodeHistory(historyOf(later))).toThrow(
      expect.objectContaining({
        code: 'LAPSE_ARCHIVE_UNREADABLE',
        message: expect.stringMatching(/version 2.*the release that wrote it/),
      }),
    );
  });

  test.each([
    ['what is not compressed', Buffer.from('xxxxxxxx'), /decompressed/],
    ['what is no JSON', historyOf('{'), /no JSON/],
    ['what is nothing', historyOf('null'), /no order/],
    ['a history without its order', historyOf('{"version":1}'), /no order/],
    ['one without a list', historyOf('{"version":1,"order":{"id":{"$bytes":"00"}}}'), /no transitions/],
  ])('%s is refused with what is wrong', (_name, history, wrong) => {
    expect(() => decodeHistory(history)).toThrow(wrong);
    expect(() => decodeHistory(history)).toThrow(/It is damaged: .* from a backup/);
  });
});
