import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Says whether a webhook for this host may connect to this address. */
export type AddressGuard = (host: string, address: string) => boolean;

/** IPv6 addresses that machines on the internet have; all others are special, or not given out. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Webhooks go to addresses of the public internet alone: a URL must not be a way to reach what only this
 * machine can reach, such as its own services or a cloud's metadata. Private, loopback, link-local, shared,
 * multicast and reserved addresses are refused, and so are IPv6 forms that carry such an IPv4 address. What
 * `allowPrivate` names is let through: a host by its name, or an address or range whatever host leads there.
 */
export function openAddressGuard(allowPrivate: readonly string[]): AddressGuard {
  const hosts = new Set(allowPrivate.filter((entry) => !entry.includes('/') && isIP(entry) === 0));
  const ranges = allowPrivate
    .filter((entry) => !hosts.has(entry))
    .map((entry) => (entry.includes('/') ? ipaddr.parseCIDR(entry) : hostRange(entry)));
  return (host, text) => {
    // What nobody can read is not let through.
    if (!ipaddr.isValid(text)) return false;
    if (hosts.has(host.toLowerCase())) return true;
    const address = withoutMapping(ipaddr.parse(text));
    if (isPublic(address)) return true;
    return ranges.some((range) => range[0].kind() === address.kind() && address.match(range));
  };
}

function hostRange(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = withoutMapping(ipaddr.parse(entry));
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** The IPv4 address that an IPv6 one stands for: mapped, or behind the well-known prefix of NAT64. */
function withoutMapping(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6)) return address;
  const nat64 = address.match(ipaddr.IPv6.parse('64:ff9b::'), 96);
  if (!address.isIPv4MappedAddress() && !nat64) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(globalUnicast);
}
