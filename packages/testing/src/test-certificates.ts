import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TestCertificate {
  readonly certPath: string;
  readonly keyPath: string;
  /** PEM texts. */
  readonly cert: string;
  readonly key: string;
}

export interface TestAuthority {
  readonly caPath: string;
  readonly ca: string;
  /** A certificate for these names, such as `DNS:localhost` or `IP:127.0.0.1`; of a client without any. */
  issue(file: string, names?: readonly string[]): TestCertificate;
}

const days = '2';
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/**
 * A certificate authority of this test alone, by the program `openssl`: Node makes keys and no certificates. Keys can be
 * read by every user of the machine, since a database server may run as another one.
 */
export function createTestAuthority(dir: string, name = 'ca'): TestAuthority {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  const caPath = join(dir, `${name}.pem`);
  const caKeyPath = join(dir, `${name}.key`);
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    caKeyPath,
    '-out',
    caPath,
    '-days',
    days,
    '-subj',
    `/CN=${name}`,
  );
  return {
    caPath,
    ca: readFileSync(caPath, 'utf8'),
    issue: (file, names = []) => {
      const path = (suffix: string) => join(dir, `${file}.${suffix}`);
      openssl('req', ...newKey, '-keyout', path('key'), '-out', path('csr'), '-subj', `/CN=${file}`);
      writeFileSync(path('ext'), names.length === 0 ? '' : `subjectAltName=${names.join(',')}\n`);
      openssl(
        ...['x509', '-req', '-in', path('csr'), '-CA', caPath, '-CAkey', caKeyPath, '-CAcreateserial'],
        ...['-days', days, '-extfile', path('ext'), '-out', path('pem')],
      );
      chmodSync(path('key'), 0o644);
      const read = (suffix: string) => readFileSync(path(suffix), 'utf8');
      return { certPath: path('pem'), keyPath: path('key'), cert: read('pem'), key: read('key') };
    },
  };
}
