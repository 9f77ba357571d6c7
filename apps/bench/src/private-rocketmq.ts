import { rmSync } from 'node:fs';
import { findPortHolder, startRocketmq } from '@lapse/local-services';

export interface PrivateRocketmq {
  readonly endpoints: string;
  readonly namesrv: string;
  /** Of the broker, without its name server. */
  readonly pids: readonly number[];
  readonly close: () => Promise<void>;
}

/** RocketMQ's own default: how exact delayed delivery is where nobody has set it. */
const timerPrecisionMs = 1_000;

/** A RocketMQ of the bench alone, as somebody has it who never heard of Lapse. */
export async function startDefaultRocketmq(dir: string): Promise<PrivateRocketmq> {
  const service = await startRocketmq({ dir, timerPrecisionMs, log: () => undefined });
  const pid = await findPortHolder(service.ports.grpc ?? 0);
  return {
    endpoints: service.endpoints,
    namesrv: service.namesrv,
    pids: pid === undefined ? [] : [pid],
    close: async () => {
      service.kill('SIGKILL');
      await service.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
