import { sleep } from '@lapse/runtime';
import { checkInvariants, type InvariantId } from '@lapse/testing';

export interface Watch {
  /** Invariants that did not hold at some instant, and what was seen. */
  readonly broken: ReadonlyMap<InvariantId, string>;
  readonly looks: number;
  stop(): Promise<void>;
}

const everyMs = 5_000;
/** A frozen store answers late or never; that look is given up. */
const lookMsMax = 20_000;

/** What must hold at every instant is looked at during the faults, too. A store that is away is no finding. */
export function watchInvariants(stores: { readonly mysqlUrl: string; readonly redisUrl: string }): Watch {
  const broken = new Map<InvariantId, string>();
  const stop = new AbortController();
  let looks = 0;
  const look = async (): Promise<void> => {
    const { failed } = await checkInvariants({ ...stores, atRest: false });
    looks += 1;
    for (const { id, detail, orderIds } of failed)
      broken.set(id, `${detail} ${orderIds.slice(0, 3).join(' ')}`);
  };
  const loop = (async () => {
    while (!stop.signal.aborted) {
      await sleep(everyMs, stop.signal);
      await Promise.race([look().catch(() => {}), sleep(lookMsMax, stop.signal)]);
    }
  })();
  return {
    broken,
    get looks() {
      return looks;
    },
    stop: async () => {
      stop.abort();
      await loop;
    },
  };
}
