import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@lapse/local-services';
import { keepSecrets } from '@lapse/testing';
import { imageUser } from './confine.ts';

/** Where the stores are that the images are started against. */
export interface Stores {
  /** An empty database of its own. */
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly rocketmqEndpoints: string;
  readonly rocketmqNamesrv: string;
  readonly topicPrefix: string;
}

export interface ShopSettings {
  readonly env: Readonly<Record<string, string>>;
  /** The one folder that a process writes to: the journal of the payment simulator. */
  readonly journal: string;
}

/** The settings of a whole shop as a deployment gives them: each secret in a file that the image's user alone reads. */
export async function writeShopSettings(dir: string, stores: Stores): Promise<ShopSettings> {
  const journal = join(dir, 'journal');
  mkdirSync(journal);
  own(journal);
  const simulatorKey = randomBytes(32).toString('base64url');
  const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const secrets = {
    LAPSE_MYSQL_URL: stores.mysqlUrl,
    LAPSE_REDIS_URL: stores.redisUrl,
    LAPSE_JWT_SECRET: randomBytes(48).toString('base64url'),
    LAPSE_PAYMENT_API_KEY: simulatorKey,
    LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret,
    LAPSE_SIM_API_KEY: simulatorKey,
    LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
    LAPSE_CONSOLE_COOKIE_SECRET: randomBytes(48).toString('base64url'),
  };
  keepSecrets(secrets);
  const [httpPort, simulatorPort, consolePort] = [await freePort(), await freePort(), await freePort()];
  return {
    journal,
    env: {
      ...writeSecrets(join(dir, 'secrets'), secrets),
      LAPSE_ROCKETMQ_ENDPOINTS: stores.rocketmqEndpoints,
      LAPSE_ROCKETMQ_NAMESRV: stores.rocketmqNamesrv,
      LAPSE_ROCKETMQ_TOPIC_PREFIX: stores.topicPrefix,
      LAPSE_HTTP_PORT: String(httpPort),
      LAPSE_PAYMENT_PROVIDER: 'simulator',
      LAPSE_PAYMENT_URL: `http://127.0.0.1:${simulatorPort}`,
      LAPSE_SIM_PORT: String(simulatorPort),
      LAPSE_SIM_DIR: journal,
      LAPSE_SIM_WEBHOOK_URL: `http://127.0.0.1:${httpPort}/v1/payments/webhook`,
      LAPSE_CONSOLE_PORT: String(consolePort),
      LAPSE_CONSOLE_PRODUCER_URL: `http://127.0.0.1:${httpPort}`,
    },
  };
}

/** @returns `NAME_FILE` for each. */
function writeSecrets(dir: string, secrets: Readonly<Record<string, string>>): Record<string, string> {
  mkdirSync(dir, { mode: 0o500 });
  own(dir);
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(secrets)) {
    const file = join(dir, name);
    writeFileSync(file, value, { mode: 0o400 });
    own(file);
    env[`${name}_FILE`] = file;
  }
  return env;
}

function own(path: string): void {
  if (imageUser !== undefined) chownSync(path, imageUser, imageUser);
}
