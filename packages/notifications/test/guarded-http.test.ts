import type { LookupAddress, lookup } from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '@lapse/runtime';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openAddressGuard } from '../src/address-guard.ts';
import { checkLiteralAddress, type GuardedHttp, openGuardedHttp } from '../src/guarded-http.ts';

/** Listens on every loopback address, as services of a machine do. */
let port = 0;
let reached = 0;
const server = createServer((_, response) => {
  reached += 1;
  response.end('ok');
});
const opened: GuardedHttp[] = [];

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((http) => http.close()));
  reached = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A name server that gives each question the next answer. */
function resolver(...answers: string[]) {
  const names: string[] = [];
  const answer = (
    name: string,
    _options: unknown,
    done: (error: null, found: LookupAddress[]) => void,
  ): void => {
    const address = answers[Math.min(names.length, answers.length - 1)] ?? '';
    names.push(name);
    done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  };
  return { names, lookup: answer as unknown as typeof lookup };
}

function open(allowPrivate: string[], names = resolver('127.0.0.1')): GuardedHttp {
  const http = openGuardedHttp({ timeoutMs: 5_000, allowPrivate, lookup: names.lookup });
  opened.push(http);
  return http;
}

const get = (http: GuardedHttp, host: string) =>
  http.send({ method: 'GET', url: `http://${host}:${port}/`, headers: {} });

describe('the guard', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.192',
    '198.18.0.1',
    '203.0.113.5',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::127.0.0.1',
    'fe80::1',
    'fe80::1%1',
    'fec0::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::8.8.8.8',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
    '4000::1',
    'not an address',
    '',
  ])('refuses %s', (address) => {
    expect(openAddressGuard([])('host', address)).toBe(false);
  });

  test.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
    'lets %s through',
    (address) => {
      expect(openAddressGuard([])('host', address)).toBe(true);
    },
  );

  test('lets through what is named: an address, a range, or a host whatever it is at', () => {
    const guard = openAddressGuard(['10.1.0.0/16', '127.0.0.9', 'fd00::/8', 'inside.example']);
    expect(guard('any', '10.1.2.3')).toBe(true);
    expect(guard('any', '::ffff:10.1.2.3')).toBe(true);
    expect(guard('any', '10.2.0.1')).toBe(false);
    expect(guard('any', '127.0.0.9')).toBe(true);
    expect(guard('any', '127.0.0.1')).toBe(false);
    expect(guard('any', 'fd12::1')).toBe(true);
    expect(guard('INSIDE.example', '192.168.0.1')).toBe(true);
    expect(guard('outside.example', '192.168.0.1')).toBe(false);
  });

  test('an IPv4 address fares the same in each IPv6 form that reaches it', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const guard = openAddressGuard([]);
        const plain = guard('host', address);
        expect(guard('host', `::ffff:${address}`)).toBe(plain);
        expect(guard('host', `64:ff9b::${address}`)).toBe(plain);
      }),
    );
  });
});

describe('a connection', () => {
  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ])('to the literal %s is refused, and no byte goes out', async (host) => {
    await expect(get(open([]), host)).rejects.toThrow(/not a public address.*LAPSE_WEBHOOK_ALLOW_PRIVATE/);
    expect(reached).toBe(0);
  });

  test('to a name that leads to a private address is refused', async () => {
    await expect(get(open([]), 'evil.example')).rejects.toThrow(
      /^evil\.example is at 127\.0\.0\.1, which is not/,
    );
    expect(reached).toBe(0);
  });

  test('to a name whose answer changes is judged by the address that it goes to (DNS rebinding)', async () => {
    // 127.0.0.2 plays the public address: named, so let through.
    const names = resolver('127.0.0.2', '127.0.0.1');
    const http = open(['127.0.0.2'], names);
    expect(await get(http, 'rebind.example')).toMatchObject({ status: 200, text: 'ok' });
    server.closeAllConnections();
    await expect(get(http, 'rebind.example')).rejects.toThrow(/is at 127\.0\.0\.1/);
    expect({ reached, asked: names.names.length }).toEqual({ reached: 1, asked: 2 });
  });

  test('negative control: with the guard off the private server is reached', async () => {
    const off = open(['0.0.0.0/0', '::/0']);
    expect(await get(off, 'evil.example')).toMatchObject({ status: 200 });
    expect(await get(off, '2130706433')).toMatchObject({ status: 200 });
    expect(reached).toBe(2);
  });
});

test('a URL that names a private address ends the start, and says which variable lets it through', () => {
  for (const url of [
    'http://127.0.0.1/x',
    'http://2130706433/',
    'http://[::1]/',
    'https://169.254.169.254/',
  ]) {
    expect(() => checkLiteralAddress('LAPSE_SHOP_WEBHOOK_URL', url, [])).toThrow(ConfigError);
    expect(() => checkLiteralAddress('LAPSE_SHOP_WEBHOOK_URL', url, ['0.0.0.0/0', '::1'])).not.toThrow();
  }
  expect(() => checkLiteralAddress('LAPSE_SHOP_WEBHOOK_URL', 'https://shop.example/', [])).not.toThrow();
});
