import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { lapseEnvironment } from '../../lapse-environment.ts';
import type { HttpContender } from '../http-contender.ts';

const producerMain = fileURLToPath(new URL('../../../../producer/dist/main.js', import.meta.url));

export const lapse: HttpContender = {
  name: 'lapse',
  about: 'apps/producer, one process, default settings',
  judgedBy: 'oracle',
  ordersMax: Number.POSITIVE_INFINITY,
  needsBroker: true,
  program: (sale, { port, jwtSecret }) => ({
    name: 'worker',
    file: producerMain,
    env: {
      ...lapseEnvironment(sale),
      LAPSE_OPS_PORT: '0',
      LAPSE_HTTP_PORT: String(port),
      LAPSE_JWT_SECRET: jwtSecret,
      LAPSE_PAYMENT_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    },
    readyText: '"started"',
  }),
};
