import { checkInvariants, type OracleOptions } from '../../src/index.ts';
import type { World } from './world.ts';

/** The oracle's verdict on a world, at rest unless said. */
export function judgeWorld({ mysqlUrl, redisUrl }: World, options: Partial<OracleOptions>) {
  return checkInvariants({ mysqlUrl, redisUrl, atRest: true, ...options });
}
