import { certificateFault, keyPairFault } from '../tls-files.ts';
import type { SettingFault } from './setting.ts';
import { matching } from './values.ts';

type Prefix = `LAPSE_${string}`;

/** The CA that a store's certificate is checked with; read from a file as a rule: `…_TLS_CA_FILE`. */
export function caSetting<const P extends Prefix>(prefix: P, server: string) {
  return {
    env: `${prefix}_TLS_CA`,
    schema: matching(/-----BEGIN CERTIFICATE-----/, 'must be certificates as PEM'),
    optional: true,
    example: '-----BEGIN CERTIFICATE-----…',
    help: `The CA that signed ${server}'s certificate, as PEM; give its file as ${prefix}_TLS_CA_FILE. Not set, the public ones are believed.`,
  } as const;
}

/** What we show to a store that wants to know by TLS who we are. */
export function clientCertificateSettings<const P extends Prefix>(prefix: P, server: string) {
  return {
    tlsCert: {
      env: `${prefix}_TLS_CERT`,
      schema: matching(/-----BEGIN CERTIFICATE-----/, 'must be a certificate as PEM'),
      optional: true,
      example: '-----BEGIN CERTIFICATE-----…',
      help: `Our own certificate, where ${server} asks for one.`,
    },
    tlsKey: {
      env: `${prefix}_TLS_KEY`,
      schema: matching(/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'must be a private key as PEM'),
      optional: true,
      example: 'the key of that certificate, as PEM',
      help: 'Its key.',
      secret: true,
    },
  } as const;
}

/** The rules between them. `on`: TLS is spoken; `toTurnOn` says how, of a setting that does nothing without it. */
export function tlsFaults(
  prefix: Prefix,
  values: { readonly tlsCa?: string; readonly tlsCert?: string; readonly tlsKey?: string },
  { on, toTurnOn }: { readonly on: boolean; readonly toTurnOn: string },
): SettingFault[] {
  const { tlsCa, tlsCert, tlsKey } = values;
  const ca = `${prefix}_TLS_CA`;
  const cert = `${prefix}_TLS_CERT`;
  const key = `${prefix}_TLS_KEY`;
  const given = [
    [ca, tlsCa],
    [cert, tlsCert],
    [key, tlsKey],
  ].flatMap(([env, value]) => (value === undefined ? [] : [`${env}`]));
  if (!on) return given.map((env) => ({ env, fault: `is set, and TLS is not spoken: ${toTurnOn}` }));
  const caFault = tlsCa === undefined ? undefined : certificateFault(tlsCa);
  if (caFault !== undefined) return [{ env: ca, fault: caFault }];
  if (tlsCert === undefined && tlsKey === undefined) return [];
  if (tlsCert === undefined || tlsKey === undefined) {
    const [missing, there] = tlsCert === undefined ? [cert, key] : [key, cert];
    return [{ env: missing, fault: `is missing: ${there} is set, and the one is nothing without the other` }];
  }
  const pairFault = certificateFault(tlsCert) ?? keyPairFault(tlsCert, tlsKey);
  return pairFault === undefined ? [] : [{ env: cert, fault: pairFault }];
}
