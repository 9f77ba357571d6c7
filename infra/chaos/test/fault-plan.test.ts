import { describe, expect, test } from 'vitest';
import { describeFault, planFaults } from '../src/fault-plan.ts';
import { linkFaults } from '../src/network-link.ts';
import { createRandom } from '../src/random.ts';

const apps = ['producer-1', 'producer-2', 'closer-1', 'closer-2', 'sweeper-1'];
const links = ['closer-1 to mysql', 'producer-2 to broker'];
const plan = (seed: number, minutes = 2) =>
  planFaults({ random: createRandom(seed), minutes, apps, links, linkFaults, skew: true });

describe('the plan of faults', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(plan(7)).toEqual(plan(7));
    expect(plan(7)).not.toEqual(plan(8));
  });

  test('ends within the run, however long a fault would last', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      for (const { atMs, forMs } of plan(seed)) expect(atMs + forMs).toBeLessThanOrEqual(120_000);
    }
  });

  test('meets every kind of fault, every server and every app within five minutes', () => {
    const faults = plan(3, 5);
    for (const kind of ['kill', 'freeze', 'flush', 'rollback', 'skew', 'network']) {
      expect(faults.map((fault) => fault.kind)).toContain(kind);
    }
    for (const target of ['broker', 'namesrv', 'mysql', 'redis', 'producer', 'closer', 'sweeper']) {
      for (const kind of ['kill', 'freeze']) {
        const met = faults.some((fault) => fault.kind === kind && fault.target.startsWith(target));
        expect({ kind, target, met }).toEqual({ kind, target, met: true });
      }
    }
    for (const how of linkFaults) expect(faults.map((fault) => fault.how)).toContain(how);
  });

  test('has faults that overlap', () => {
    const faults = plan(1);
    const overlaps = faults.filter(({ atMs, forMs }, i) => (faults[i + 1]?.atMs ?? Infinity) < atMs + forMs);
    expect(overlaps.length).toBeGreaterThan(5);
  });

  test('names no clock where none can be made to run wrong', () => {
    const faults = planFaults({ random: createRandom(1), minutes: 10, apps, links, linkFaults, skew: false });
    expect(faults.map(({ kind }) => kind)).not.toContain('skew');
  });

  test('reads well', () => {
    const fault = {
      atMs: 0,
      forMs: 1_500,
      kind: 'network',
      target: 'closer-1 to mysql',
      how: 'stalls',
    } as const;
    expect(describeFault(fault)).toBe('network closer-1 to mysql (stalls) for 1.5 s');
  });
});
