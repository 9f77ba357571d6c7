import type { BrokerState, BrokerTopic } from '@lapse/messaging';
import type { Check, CheckState } from './check.ts';

/** Both topics: served by the proxy, of type DELAY, with their groups, and what waits in them. */
export function checkRocketmq({ routes, topics }: BrokerState): Check[] {
  const served = routes.map(({ topic, fault }): Check => {
    if (fault === null) return { area: 'rocketmq', check: topic, state: 'ok', says: 'served by the proxy' };
    const fix =
      'lapse topics apply; if the topic is there, LAPSE_ROCKETMQ_ENDPOINTS must name the proxy (gRPC)';
    return { area: 'rocketmq', check: topic, state: 'fail', says: `not served: ${fault}`, fix };
  });
  if (topics === null) {
    const says = 'type, groups and lag were not looked at: no LAPSE_ROCKETMQ_NAMESRV';
    return [...served, { area: 'rocketmq', check: 'brokers', state: 'skipped', says }];
  }
  return [...served, ...topics.flatMap(checkTopic)];
}

function checkTopic({ master, topic, type, group, hasGroup, unread, dead }: BrokerTopic): Check[] {
  const checks: [string, CheckState, string, string][] = [
    [
      `type of ${topic}`,
      type === 'DELAY' ? 'ok' : 'fail',
      type === null ? 'there is no such topic' : `${type}`,
      type === null
        ? 'lapse topics apply'
        : 'delete the topic and run lapse topics apply: any other type delivers at once',
    ],
    [`group ${group}`, hasGroup ? 'ok' : 'fail', hasGroup ? 'there' : 'missing', 'lapse topics apply'],
    [`waiting in ${topic}`, 'ok', `${unread} messages delivered and not acknowledged`, ''],
    [
      `dead letters of ${group}`,
      dead === 0 ? 'ok' : 'warn',
      `${dead}`,
      'the sweeper moves them into the parked rows: lapse parked list --kind dead_letter',
    ],
  ];
  return checks.map(([check, state, says, fix]) => ({
    ...({ area: 'rocketmq', check: `${check} on ${master}`, state, says } as const),
    ...(state === 'ok' ? {} : { fix }),
  }));
}
