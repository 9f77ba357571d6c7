import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createTestRedis } from '../src/index.ts';

describe('a test Redis', () => {
  it('is empty and its own, and flush empties only it', async () => {
    const one = await createTestRedis();
    const two = await createTestRedis();
    const inOne = new Redis(one.url);
    const inTwo = new Redis(two.url);
    await inOne.set('key', 'one');
    expect(await inTwo.get('key')).toBeNull();
    await inTwo.set('key', 'two');
    await one.flush();
    expect(await inOne.get('key')).toBeNull();
    expect(await inTwo.get('key')).toBe('two');
    await inOne.quit();
    await inTwo.quit();
    await one.close();
    await two.close();
  });

  it('names a leaked client when closed', async () => {
    const own = await createTestRedis();
    const leaked = new Redis(own.url);
    await leaked.ping();
    await expect(own.close()).rejects.toThrow(
      /1 client\(s\) of Redis database \d+ were left open:\n {2}id=\d+ addr=/,
    );
    leaked.disconnect();
  });

  it('is never given out while somebody is still connected to it', async () => {
    const held = await createTestRedis();
    const client = new Redis(held.url);
    await client.ping();
    const others = await Promise.all(Array.from({ length: 8 }, () => createTestRedis()));
    expect(new Set([held, ...others].map(({ url }) => url)).size).toBe(9);
    await client.quit();
    for (const redis of [held, ...others]) await redis.close();
  });
});
