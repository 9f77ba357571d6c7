import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Made at random once per folder: there is no default secret, not even in the demo. */
export interface DemoSecrets {
  readonly jwtSecret: string;
  /** Standard Webhooks form: `whsec_` and base64. */
  readonly webhookSecret: string;
  /** What the shop shows to the payment simulator. */
  readonly simulatorKey: string;
  /** Encrypts the page's session cookies. */
  readonly cookieSecret: string;
}

/**
 * The secrets of this folder's stack: those of the environment where given, else made on the first
 * call. The file is for its owner alone (0600).
 */
export async function readSecrets(file: string, env: NodeJS.ProcessEnv): Promise<DemoSecrets> {
  const kept = await keptSecrets(file);
  return {
    jwtSecret: env.LAPSE_JWT_SECRET || kept.jwtSecret,
    webhookSecret: env.LAPSE_PAYMENT_WEBHOOK_SECRET || kept.webhookSecret,
    simulatorKey: env.LAPSE_SIM_API_KEY || kept.simulatorKey,
    cookieSecret: env.LAPSE_CONSOLE_COOKIE_SECRET || kept.cookieSecret,
  };
}

/** What the file holds; what it lacks, as one from an older version does, is made and kept. */
async function keptSecrets(file: string): Promise<DemoSecrets> {
  const found = await read(file);
  const secrets: DemoSecrets = {
    jwtSecret: found.jwtSecret || randomBytes(32).toString('base64url'),
    webhookSecret: found.webhookSecret || `whsec_${randomBytes(32).toString('base64')}`,
    simulatorKey: found.simulatorKey || randomBytes(32).toString('base64url'),
    cookieSecret: found.cookieSecret || randomBytes(32).toString('base64url'),
  };
  if (found.jwtSecret && found.webhookSecret && found.simulatorKey && found.cookieSecret) return secrets;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return secrets;
}

/** A file cut short by a hard kill counts as empty: tokens are only for the demo, new ones do. */
async function read(file: string): Promise<Partial<DemoSecrets>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Partial<DemoSecrets>;
  } catch {
    return {};
  }
}
