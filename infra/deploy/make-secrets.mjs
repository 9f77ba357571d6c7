/**
 * The secrets of infra/deploy/compose.shop.yaml, made at random into `secrets/` beside it (or a folder that is named).
 * What is there is kept: run it again after an update. Node's built-ins alone, so that it runs on a bare server.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dir = process.argv[2] ?? fileURLToPath(new URL('secrets', import.meta.url));
/** The user of the images, who alone may read the secrets: compose mounts files as they are. */
const imageUser = 1000;
const user = process.getuid?.();
const random = () => randomBytes(32).toString('base64url');

if (user !== 0 && user !== imageUser) {
  // Others could only make files that everybody reads.
  refuse(`User ${user} cannot make files that the images' user (${imageUser}) reads and others do not.`);
}
try {
  makeSecrets();
} catch (error) {
  if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
  refuse(`User ${user} has no right to ${error.path}.`);
}

function makeSecrets() {
  mkdirSync(dir, { recursive: true, mode: 0o711 });
  keep('mysql-root-password', random);
  const mysqlPassword = keep('mysql-password', random);
  keep('mysql-url', () => `mysql://lapse:${mysqlPassword}@mysql:3306/lapse`);
  keep('redis-url', () => 'redis://redis:6379');
  keep('jwt-secret', random);
  keep('payment-api-key', random);
  keep('payment-webhook-secret', () => `whsec_${randomBytes(32).toString('base64')}`);
  keep('console-cookie-secret', random);
}

/** @returns what the file holds, made now where it was not there; for the images' user alone, whoever made it. */
function keep(name, make) {
  const file = join(dir, name);
  const made = !existsSync(file);
  if (made) writeFileSync(file, make(), { mode: 0o400 });
  if (user === 0) chownSync(file, imageUser, imageUser);
  chmodSync(file, 0o400);
  if (made) process.stdout.write(`${file}\n`);
  return readFileSync(file, 'utf8');
}

function refuse(why) {
  process.stderr.write(`LAPSE_SECRETS_USER: ${why} Run this as root (sudo) or as user ${imageUser}.\n`);
  process.exit(1);
}
