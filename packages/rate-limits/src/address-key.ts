import { isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * What counts as one address. IPv4 as it is; of IPv6 the /64 network, since every customer has as many addresses
 * as they like in theirs. Some proxies name the port too: it plays no part, or each connection would be a client.
 * @returns undefined for the machine itself: its own tools, and a proxy on it that is not a trusted one. To count
 * such a proxy as one client would stop everybody at once.
 */
export function addressKey(address: string): string | undefined {
  const host = isIP(address) === 0 ? withoutPort(address) : address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(host)?.[1];
  const plain = mapped ?? host;
  if (isIPv4(plain)) return plain.startsWith('127.') ? undefined : plain;
  if (!isIPv6(plain)) return plain;
  if (plain === '::1') return undefined;
  return `${expand(plain).slice(0, 4).join(':')}::/64`;
}

function withoutPort(address: string): string {
  return address.replace(/^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/, '$1$2');
}

/** The eight groups of an IPv6 address, without leading zeros; a zone or a dotted tail plays no part in the first four. */
function expand(address: string): string[] {
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array.from({ length: missing }, () => '0'), ...after].map((group) =>
    group.toLowerCase().replace(/^0+(?=.)/, ''),
  );
}
