import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkLogs, findSecret } from '../src/check-logs.ts';

let logs: string;
beforeEach(() => {
  logs = mkdtempSync(join(tmpdir(), 'lapse-logs-'));
});
afterEach(() => rmSync(logs, { recursive: true, force: true }));

const secret = 'a-secret-that-only-this-test-knows';
const check = () => checkLogs({ logs, files: [join(logs, 'absent')], root: logs });

it('clean logs pass', async () => {
  writeFileSync(join(logs, 'known-secrets.jsonl'), `${JSON.stringify(secret)}\n`);
  writeFileSync(join(logs, 'producer-1.log'), '{"msg":"API listens"}\n'.repeat(1_000));
  expect(await check()).toMatchObject({ passed: 1, failed: 0, faults: [] });
});

it('a secret that was given to a process is found in any line of any file, and is not repeated', async () => {
  writeFileSync(join(logs, 'known-secrets.jsonl'), `${JSON.stringify(secret)}\n`);
  writeFileSync(join(logs, 'producer-1.log'), '{"msg":"API listens"}\n'.repeat(1_000));
  appendFileSync(join(logs, 'producer-1.log'), `{"err":"refused: ${secret}"}`);
  const { failed, faults } = await check();
  expect(failed).toBe(1);
  expect(faults).toEqual([expect.stringMatching(/producer-1\.log line \d+: the value of a secret setting/)]);
  expect(faults.join()).not.toContain(secret);
});

it.each([
  ['{"secret":"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}', 'a signing secret'],
  ['Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLW9mLXRoaXM', 'a signed token'],
  ['sk_test_0123456789abcdef', 'a key of a payment provider'],
  ['connect mysql://lapse:hunter22@db/lapse failed', 'a password in an address'],
  ['{"headers":{"authorization":"Basic YTpi"}}', 'an Authorization header'],
])('%s is seen for what it is, though nobody named it', (line, kind) => {
  expect(findSecret(line, [])).toBe(kind);
});

it.each([
  'mysql://lapse:[hidden]@db/lapse',
  'example: mysql://lapse:password@127.0.0.1:3306/lapse',
  '{"authorization":"[hidden]"}',
  'http://127.0.0.1:8080/docs and somebody@example.com',
  'the output of: openssl rand -base64 48',
])('%s is none', (line) => {
  expect(findSecret(line, [])).toBeUndefined();
});
