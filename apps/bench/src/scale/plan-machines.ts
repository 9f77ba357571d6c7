export interface Need {
  readonly what: string;
  readonly usPerOrder: number;
  /** Cores at half load. */
  readonly cores: number;
  readonly machines: number;
  readonly of: string;
}

/** No service is planned to work for more than this share of its time: the rest is for what nobody planned. */
const loadMax = 0.5;
const primaryCores = 16;
const brokerCores = 8;
const usPerSecond = 1_000_000;

/**
 * What it takes to close so many orders a second: cores by kind, and machines of a common size. Redis and each Node process
 * use one core each; MySQL and the broker use what their machine has.
 */
export function planMachines(ordersPerSecond: number, cost: Readonly<Record<string, number>>): Need[] {
  const need = (name: string, what: string, cores: number, of: string): Need => {
    const usPerOrder = cost[name] ?? 0;
    const wanted = (ordersPerSecond * usPerOrder) / usPerSecond / loadMax;
    return { what, usPerOrder, cores: wanted, machines: Math.max(1, Math.ceil(wanted / cores)), of };
  };
  return [
    need('worker', 'processes of Node', 1, 'one core each'),
    need('mysql', 'MySQL primaries', primaryCores, `${primaryCores} cores each`),
    need('redis', 'Redis nodes', 1, 'one core each'),
    need('broker', 'RocketMQ masters', brokerCores, `${brokerCores} cores each`),
  ];
}
