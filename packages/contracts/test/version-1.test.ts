import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { timeoutMessage, timeoutMessageVersion } from '../src/index.ts';

const folder = new URL('fixtures/version-1/', import.meta.url);
const bytesOf = (name: string): Buffer => readFileSync(new URL(name, folder));
const { orders } = JSON.parse(bytesOf('expected.json').toString());

/** What version 1 wrote. A fixture that changes is no fixture: add one of another version instead. */
const digests = {
  'effect-capacity.bytes': '6a279e98617dea450530e3428eb531aa901a40b287f3427939900245663ab06e',
  'effect-order-ids.bytes': 'f5df0fb16786f262ce3988f1438eb0d6454c633c56ac9a8ab5bb713e2388aefb',
  'expected.json': 'f7fa1fd40a11aab51acb915aedc30d910f938c8305f28ed3782c4f767b7a8ae7',
  'hold-held.bytes': '9b507af0a2ae2ab9b19e88b651b3a6661833263fd7f272ccb9594c06b3311389',
  'hold-released-without-a-start.bytes': '4cb688d7f6de30f53c0b9f414f9e4e6ba27713fa1755f34c8489ee2bb32d0693',
  'hold-released.bytes': 'fa5b5dcd70ce6f1900ef5762f7aba6230d7af324d1c23a633332c5c47ee57d2a',
  'hold-sold.bytes': '8277a738c0f65b2e7065421a4e6b23d5bc7a3d8f2e2aaf8beca2e523dc7134d6',
  'message-phase-1.bytes': 'fc0e6da432cc34323ded36c25c7bf14420535df4c50101eee5b8a27bda4f19ea',
  'message-phase-2-one-order.bytes': '80f9ad4bd29e72d2eb5a1adb3bb37cfb057546bf1e0c495b9ab119d44a24fd26',
  'message-phase-2.bytes': 'cbc651e9cb8e25648b0ff7338d56d778f917634009272b91d005ea57e24214d8',
  'outbox-body.bytes': '262c01946848c16339555af7df274399b764e5cac7da36ca148cb70844080a34',
};

describe('the bytes of version 1', () => {
  test('are those that were written then, and their script refuses to write them again', () => {
    const now = Object.fromEntries(
      readdirSync(folder)
        .toSorted()
        .map((name) => [name, createHash('sha256').update(bytesOf(name)).digest('hex')]),
    );
    expect(now).toEqual(digests);
    const script = fileURLToPath(new URL('fixtures/write-version-1.mjs', import.meta.url));
    expect(() => execFileSync(process.execPath, [script], { stdio: 'pipe' })).toThrow(/EEXIST/);
  });

  test.each([
    ['message-phase-1.bytes', 1, orders],
    ['message-phase-2.bytes', 2, orders],
    ['message-phase-2-one-order.bytes', 2, orders.slice(0, 1)],
  ])('%s is read as the orders it was written of', (name, phase, expected) => {
    const message = timeoutMessage.parse(JSON.parse(bytesOf(name).toString()));
    expect(message).toEqual({ version: 1, phase, dueTime: expected[0].dueTime, orders: expected });
  });

  test('are what is written today: who changes them raises the version', () => {
    expect(timeoutMessageVersion).toBe(1);
    const bytes = bytesOf('message-phase-2.bytes');
    expect(JSON.stringify(timeoutMessage.parse(JSON.parse(bytes.toString())))).toBe(bytes.toString());
  });
});
