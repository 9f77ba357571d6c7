import { join } from 'node:path';
import type { StackState } from './state-file.ts';

export interface WelcomeOptions {
  readonly state: StackState;
  readonly activityId: number | string;
  readonly buyerToken: string;
  readonly operatorToken: string;
  readonly dataDir: string;
}

/** Addresses, and commands to paste: one places an order, the other shows what became of it. */
export function welcomeText({
  state,
  activityId,
  buyerToken,
  operatorToken,
  dataDir,
}: WelcomeOptions): string {
  const answerFile = join(dataDir, 'order.json');
  const rows: [string, string][] = [
    ['the page: buy a ticket', state.pageUrl ?? ''],
    ["the operators' page", `${state.pageUrl}/ops  (sign in with the OPERATOR token below)`],
    ['API', state.apiUrl],
    ['API documentation', `${state.apiUrl}/docs`],
    ['payment simulator', `${state.simulatorUrl} (a payment's page: /pay/…)`],
    ...Object.entries(state.opsUrls).map(([app, url]): [string, string] => [`${app} ops`, `${url}/metrics`]),
    ['MySQL', hidePassword(state.mysqlUrl)],
    ['Redis', hidePassword(state.redisUrl)],
    [
      'RocketMQ',
      `${state.rocketmqEndpoints} (gRPC)${state.rocketmqNamesrv ? `, name server ${state.rocketmqNamesrv}` : ''}`,
    ],
    ['data and logs', dataDir],
  ];
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return [
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}${value}`),
    '',
    'Place an order (reminded after 40 s, closed after 60 s unless it is paid):',
    '',
    `curl -sS -X POST ${state.apiUrl}/v1/activities/${activityId}/orders \\`,
    `  -H 'Authorization: Bearer ${buyerToken}' \\`,
    '  -H "Idempotency-Key: paste-$(date +%s)" -H \'Content-Type: application/json\' \\',
    `  -d '{"quantity":1}' | tee '${answerFile}'`,
    '',
    `To see it on the page: ${state.pageUrl}/sign-in with the BUYER token below, or ${state.pageUrl}/ops with OPERATOR.`,
    '(A browser that has not signed in is a guest of its own, with orders of its own.)',
    '',
    'What became of it:',
    '',
    `curl -sS ${state.apiUrl}/v1/orders/$(node -p 'const o=JSON.parse(fs.readFileSync(process.argv[1]));o.orderId??o.id' '${answerFile}')/timeline \\`,
    `  -H 'Authorization: Bearer ${buyerToken}'`,
    '',
    'For the other examples of the README (both tokens are good for a week, here alone):',
    '',
    `export API=${state.apiUrl}`,
    `export BUYER=${buyerToken}`,
    `export OPERATOR=${operatorToken}`,
    '',
    'Ctrl-C stops everything in up to 20 s; the data stays until `npm start -- --reset`.',
    '',
  ].join('\n');
}

function hidePassword(url: string): string {
  const parsed = new URL(url);
  if (parsed.password !== '') parsed.password = '***';
  return parsed.href;
}
