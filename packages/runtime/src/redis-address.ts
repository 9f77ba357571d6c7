import type { TlsFiles } from './tls-files.ts';

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** The settings of Redis, as far as they say where it is and how to be let in. */
export interface RedisTarget {
  readonly url: string;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
}

/** In the words of ioredis, so that they can be handed on as they are. */
export interface RedisLogin {
  readonly username?: string;
  readonly password?: string;
  /** Where it is there, TLS is spoken, and the server's certificate is checked. */
  readonly tls?: TlsFiles;
}

export interface SentinelLogin extends RedisLogin {
  readonly sentinels: RedisHost[];
  /** As the sentinels call the master. */
  readonly name: string;
  readonly db: number;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  readonly sentinelTLS?: TlsFiles;
  readonly enableTLSForSentinelMode?: true;
}

/** One server; some nodes of a cluster, which name the others; or sentinels, which name the master of the moment. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly url: string; readonly login: Pick<RedisLogin, 'tls'> }
  | { readonly kind: 'cluster'; readonly nodes: readonly RedisHost[]; readonly login: RedisLogin }
  | { readonly kind: 'sentinel'; readonly login: SentinelLogin };

const listUrl =
  /^(rediss?)-(cluster|sentinel):\/\/(?:([^:@/\s]*):([^@/\s]+)@)?([^@/?#\s]+)(?:\/([^/?#\s]*)(?:\/(\d{1,5}))?)?$/;
const hostAndPort = /^(\[[0-9a-fA-F:]+\]|[^:[\]]+):(\d{1,5})$/;
const portMax = 65_535;
/** A list that is longer was not written by hand, and some suffice. */
const hostsMax = 100;

/**
 * Read what `LAPSE_REDIS_URL` names: `redis://[user:password@]host:port[/number]`,
 * `redis-cluster://[user:password@]host:port,host:port`, or
 * `redis-sentinel://[user:password@]host:port,host:port/master[/number]`, whose user and password are those of Redis
 * itself; `rediss` for TLS.
 * @throws {TypeError} without the address in it, which has a password.
 */
export function readRedisAddress({ url, ...target }: RedisTarget): RedisAddress {
  if (!/^rediss?-/.test(url)) return readServer(url, target);
  const [, scheme, kind, username = '', password = '', list = '', path, number] = listUrl.exec(url) ?? [];
  const hosts = list.split(',').map(readHost);
  if (hosts.length > hostsMax) throw new TypeError(`More than ${hostsMax} hosts are named.`);
  const tls = scheme === 'rediss' ? tlsOf(target) : undefined;
  const login = {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(tls && { tls }),
  };
  if (kind === 'cluster') {
    if (path) throw new TypeError('A cluster has no databases: nothing may follow its hosts.');
    return { kind, nodes: hosts, login };
  }
  if (!path) throw new TypeError('Behind the sentinels the name of the master is missing.');
  const { sentinelUsername, sentinelPassword } = target;
  const sentinels = { sentinels: hosts, name: decodeURIComponent(path), db: Number(number ?? 0) };
  return {
    kind: 'sentinel',
    login: {
      ...{ ...login, ...sentinels },
      ...(sentinelUsername !== undefined && { sentinelUsername }),
      ...(sentinelPassword !== undefined && { sentinelPassword }),
      // All or none: a network that needs TLS for one of the two needs it for the other.
      ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
    },
  };
}

/** Whether the address asks for TLS. */
export function isRedisTls(url: string): boolean {
  return url.startsWith('rediss');
}

function readServer(url: string, target: Omit<RedisTarget, 'url'>): RedisAddress {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !['redis:', 'rediss:'].includes(parsed.protocol) || parsed.hostname === '') {
    throw new TypeError('A server is redis://host:port.');
  }
  return { kind: 'server', url, login: isRedisTls(url) ? { tls: tlsOf(target) } : {} };
}

function readHost(text: string): RedisHost {
  const [, host, port] = hostAndPort.exec(text) ?? [];
  if (host === undefined) throw new TypeError('Hosts are host:port,host:port.');
  if (Number(port) < 1 || Number(port) > portMax) throw new TypeError(`A port is from 1 to ${portMax}.`);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function tlsOf({ tlsCa, tlsCert, tlsKey }: Omit<RedisTarget, 'url'>): TlsFiles {
  return {
    ...(tlsCa !== undefined && { ca: tlsCa }),
    ...(tlsCert !== undefined && { cert: tlsCert }),
    ...(tlsKey !== undefined && { key: tlsKey }),
  };
}
