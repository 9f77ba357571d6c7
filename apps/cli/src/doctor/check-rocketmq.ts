import type { BrokerState, BrokerTopic } from '@lapse/messaging';
import type { Check, CheckState } from './check.ts';

/** What RocketMQ adds to every error: a link to a general page. */
const advice = /\s*For more information, please visit.*$/s;

/** Both topics: served by the proxy, of type DELAY, with their groups, and what waits in them. */
export function checkRocketmq({ routes, topics }: BrokerState): Check[] {
  const served = routes.map(({ topic, fault }): Check => {
    if (fault === null) return { area: 'rocketmq', check: topic, state: 'ok', says: 'served by the proxy' };
    return {
      area: 'rocketmq',
      check: topic,
      state: 'fail',
      says: `not served: ${fault.replace(advice, '')}`,
      fix: routeFix(fault),
    };
  });
  if (topics === null) {
    const says = 'type, groups and lag were not looked at: no LAPSE_ROCKETMQ_NAMESRV';
    return [...served, { area: 'rocketmq', check: 'brokers', state: 'skipped', says }];
  }
  return [...served, ...topics.flatMap(checkTopic)];
}

/** A proxy that does not let us in says nothing of the topic. */
function routeFix(fault: string): string {
  if (/certificate|altnames|wrong version number|SSL routines/i.test(fault)) {
    return 'put the CA that signed its certificate into LAPSE_ROCKETMQ_TLS_CA_FILE, and name the host in LAPSE_ROCKETMQ_ENDPOINTS as the certificate does; a proxy without TLS needs LAPSE_ROCKETMQ_TLS=false';
  }
  if (/4010|4030|unauthori|denied|signature|permission/i.test(fault)) {
    return 'correct LAPSE_ROCKETMQ_ACCESS_KEY and LAPSE_ROCKETMQ_SECRET_KEY, and give that user its rights (infra/deploy/ENGINES.md)';
  }
  return 'lapse topics apply; if the topic is there, LAPSE_ROCKETMQ_ENDPOINTS must name the proxy (gRPC)';
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
