import { createPrivateKey, X509Certificate } from 'node:crypto';

/** PEM texts, in the words of Node's TLS. Without a CA the ones that Node knows are believed. */
export interface TlsFiles {
  readonly ca?: string;
  /** What we show to a server that asks who we are. */
  readonly cert?: string;
  readonly key?: string;
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** What is wrong with a list of certificates; undefined: nothing. Node itself would believe nobody, without a word. */
export function certificateFault(pem: string): string | undefined {
  const found = pem.match(certificate) ?? [];
  if (found.length === 0) return 'has no certificate in it: it must begin with -----BEGIN CERTIFICATE-----';
  for (const [index, one] of found.entries()) {
    try {
      new X509Certificate(one);
    } catch {
      return `cannot be read: certificate ${index + 1} of ${found.length} is damaged`;
    }
  }
  return undefined;
}

/** What is wrong with a client's certificate, the first of a chain, and its key together; undefined: nothing. */
export function keyPairFault(cert: string, key: string): string | undefined {
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return undefined;
    return 'is not the certificate of its key';
  } catch {
    // The error's own text may quote the key.
    return 'cannot be used: its key is damaged, or locked by a password';
  }
}
