/**
 * The secrets of infra/deploy/compose.shop.yaml, made at random into `secrets/` beside it (or a folder that is named).
 * What is there is kept: run it again after an update. Node's built-ins alone, so that it runs on a bare server.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dir = process.argv[2] ?? fileURLToPath(new URL('secrets', import.meta.url));
/** The user of the images, who must be able to read them: compose mounts files as they are. */
const imageUser = 1000;

mkdirSync(dir, { recursive: true, mode: 0o711 });
const random = () => randomBytes(32).toString('base64url');
keep('mysql-root-password', random);
const mysqlPassword = keep('mysql-password', random);
keep('mysql-url', () => `mysql://lapse:${mysqlPassword}@mysql:3306/lapse`);
keep('redis-url', () => 'redis://redis:6379');
keep('jwt-secret', random);
keep('payment-api-key', random);
keep('payment-webhook-secret', () => `whsec_${randomBytes(32).toString('base64')}`);
keep('console-cookie-secret', random);

/** @returns what the file holds, made now where it was not there. */
function keep(name, make) {
  const file = join(dir, name);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const value = make();
  writeFileSync(file, value, { mode: 0o400 });
  if (process.getuid?.() === 0) chownSync(file, imageUser, imageUser);
  // Not root: only everybody includes that user.
  else chmodSync(file, 0o444);
  process.stdout.write(`${file}\n`);
  return value;
}
