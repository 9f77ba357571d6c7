/** Where MySQL is, and how to be let in. */
export interface ServerConfig {
  /** mysql://user:password@host:port/database; with `tls` the host is a name. */
  readonly url: string;
  /** Speak TLS or not at all: the certificate must be valid, and for the host. */
  readonly tls?: boolean;
  /** PEM texts: the CA, without which Node's own are believed; our own certificate, and its key. */
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}
