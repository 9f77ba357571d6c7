import { childPids } from '@lapse/testing';
import { expect, test } from 'vitest';
import { openCrashWorld } from '../src/crash-world.ts';

test('a world of which one process does not start leaves none of the others behind', async () => {
  const before = childPids();
  await expect(openCrashWorld({ LAPSE_JWT_SECRET: 'too short' })).rejects.toThrow('process ended');
  expect(childPids()).toEqual(before);
});
