import { appProgram, producerEnvironment } from '../../app-program.ts';
import type { HttpContender } from '../http-contender.ts';

export const lapse: HttpContender = {
  name: 'lapse',
  about: 'apps/producer, one process, default settings',
  judgedBy: 'oracle',
  ordersMax: Number.POSITIVE_INFINITY,
  needsBroker: true,
  program: (sale, http) => appProgram('producer', sale, http.worker, producerEnvironment(http)),
};
