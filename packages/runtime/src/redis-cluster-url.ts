export interface RedisClusterAddress {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly username?: string;
  readonly password?: string;
  readonly tls: boolean;
}

const clusterUrl = /^(redis|rediss)-cluster:\/\/(?:([^:@/]*):([^@/]*)@)?([^/@?#]+)\/?$/;

/**
 * The nodes that `redis-cluster://[user:password@]host:port,host:port` names (`rediss-cluster:` for TLS); null when
 * the address is that of a single server. Some of the nodes suffice: they name the others.
 * @throws {TypeError} without the address in it, which has a password.
 */
export function readRedisClusterUrl(url: string): RedisClusterAddress | null {
  if (!/^rediss?-cluster:/.test(url)) return null;
  const [, scheme, username = '', password = '', list = ''] = clusterUrl.exec(url) ?? [];
  const nodes = list.split(',').map((text) => {
    const [, host, port] = /^(\[[0-9a-fA-F:]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
    if (host === undefined) throw new TypeError('A cluster is redis-cluster://host:port,host:port.');
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });
  return {
    nodes,
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    tls: scheme === 'rediss',
  };
}
