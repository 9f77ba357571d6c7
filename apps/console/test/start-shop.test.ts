import { childPids } from '@lapse/testing';
import { expect, test } from 'vitest';
import { startShop } from './shop-processes.ts';

test('a page that does not start leaves none of the shop’s other processes behind', async () => {
  const before = childPids();
  await expect(startShop({ LAPSE_CONSOLE_COOKIE_SECRET: 'too short' })).rejects.toThrow('process ended');
  expect(childPids()).toEqual(before);
});
