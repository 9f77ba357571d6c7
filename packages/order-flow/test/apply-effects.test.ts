import { describe, expect, it } from 'vitest';
import { applyEffects, type EffectPorts, type PendingEffect } from '../src/index.ts';

/** In-memory ports: what is tested here is which calls are made, not what a store does with them. */
function recordingPorts(
  faults: { release?: 'throws' | 'not_ready'; notYet?: string[]; capacity?: 'not_yet'; mark?: boolean } = {},
) {
  const calls: string[] = [];
  const logged: string[] = [];
  const answer = async (kind: string, activityId: number, orderIds: string[]) => {
    calls.push(`${kind} ${activityId} ${orderIds.join(',')}`);
    if (kind === 'release' && faults.release === 'throws') throw new Error('Redis is away');
    if (kind === 'release' && faults.release === 'not_ready') return { kind: 'not_ready' as const };
    return { kind: 'done' as const };
  };
  const ports: EffectPorts = {
    stock: {
      release: (activityId, orderIds) => answer('release', activityId, orderIds),
      confirm: (activityId, orderIds) => answer('confirm', activityId, orderIds),
      reacquire: async (activityId, orders) => {
        calls.push(`reacquire ${activityId} ${orders.map(({ orderId }) => orderId).join(',')}`);
        return { kind: 'done', notYet: faults.notYet ?? [] };
      },
      setCapacity: async (activityId, version, capacity) => {
        calls.push(`capacity ${activityId} ${version}:${capacity}`);
        return { kind: faults.capacity ?? 'done' };
      },
    },
    orders: {
      markEffectsApplied: async (ids) => {
        calls.push(`mark ${ids.join(',')}`);
        if (faults.mark) throw new Error('MySQL is away');
      },
    },
    log: { warn: (_fields, message) => logged.push(message) },
  };
  return { ports, calls, logged };
}

const effects: PendingEffect[] = [
  { id: 'e1', kind: 'release', activityId: 1, orderIds: ['a', 'b'] },
  { id: 'e2', kind: 'confirm', activityId: 1, orderIds: ['c'] },
  { id: 'e3', kind: 'release', activityId: 1, orderIds: ['d'] },
  { id: 'e4', kind: 'release', activityId: 2, orderIds: ['e'] },
];

describe('applyEffects', () => {
  it('makes one call per activity and kind, then marks all of them in one call', async () => {
    const { ports, calls, logged } = recordingPorts();
    expect(await applyEffects(ports, effects)).toEqual({ applied: 4, left: 0 });
    expect(calls).toEqual(['release 1 a,b,d', 'confirm 1 c', 'release 2 e', 'mark e1,e3,e2,e4']);
    expect(logged).toEqual([]);
  });

  it.each(['throws', 'not_ready'] as const)(
    'leaves to the sweeper what Redis did not take (%s), marks the rest, and says so once',
    async (release) => {
      const { ports, calls, logged } = recordingPorts({ release });
      expect(await applyEffects(ports, effects)).toEqual({ applied: 1, left: 3 });
      expect(calls.at(-1)).toBe('mark e2');
      expect(logged).toHaveLength(1);
    },
  );

  it('of orders that are sold again, leaves the effects that name one which Redis cannot sell yet', async () => {
    const { ports, calls } = recordingPorts({ notYet: ['b'] });
    const again = (id: string, ...orderIds: string[]): PendingEffect => {
      const orders = orderIds.map((orderId) => ({ orderId, userId: `of ${orderId}`, quantity: 1 }));
      return { id, kind: 'reacquire', activityId: 1, orderIds, orders };
    };
    const three = [again('e1', 'a'), again('e2', 'b', 'c'), again('e3', 'd')];
    expect(await applyEffects(ports, three)).toEqual({ applied: 2, left: 1 });
    expect(calls).toEqual(['reacquire 1 a,b,c,d', 'mark e1,e3']);
  });

  it('of several changes of capacity, sends the newest alone; when Redis has it the others are over', async () => {
    const change = (id: string, version: number): PendingEffect => {
      return { id, kind: 'capacity', activityId: 1, orderIds: [], version, capacity: version * 100 };
    };
    const changes = [change('e2', 3), change('e1', 2)];
    const { ports, calls } = recordingPorts();
    expect(await applyEffects(ports, changes)).toEqual({ applied: 2, left: 0 });
    expect(calls).toEqual(['capacity 1 3:300', 'mark e2,e1']);
    expect(await applyEffects(recordingPorts({ capacity: 'not_yet' }).ports, changes)).toEqual({
      applied: 0,
      left: 2,
    });
  });

  it('never throws: when the mark fails, every effect stays and will be repeated', async () => {
    const { ports, logged } = recordingPorts({ mark: true });
    expect(await applyEffects(ports, effects)).toEqual({ applied: 0, left: 4 });
    expect(logged).toHaveLength(1);
  });

  it('does nothing at all for no effects', async () => {
    const { ports, calls } = recordingPorts();
    expect(await applyEffects(ports, [])).toEqual({ applied: 0, left: 0 });
    expect(calls).toEqual([]);
  });
});
