import { randomBytes } from 'node:crypto';
import { appProgram } from '../../app-program.ts';
import type { HttpContender } from '../http-contender.ts';

export const lapse: HttpContender = {
  name: 'lapse',
  about: 'apps/producer, one process, default settings',
  judgedBy: 'oracle',
  ordersMax: Number.POSITIVE_INFINITY,
  needsBroker: true,
  program: (sale, { worker, port, jwtSecret }) =>
    appProgram('producer', sale, worker, {
      LAPSE_HTTP_PORT: String(port),
      LAPSE_JWT_SECRET: jwtSecret,
      LAPSE_PAYMENT_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    }),
};
