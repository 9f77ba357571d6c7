import { activityView, type CreateActivityBody } from '@lapse/contracts';

/** Windows short enough to watch: reminded after 40 seconds, closed after 60. */
const demoActivity = {
  name: 'Lapse demo',
  capacity: 100,
  priceMinor: 8_800,
  currency: 'CNY',
  payWithinMs: 60_000,
  remindAfterMs: 40_000,
} as const satisfies Partial<CreateActivityBody>;

const requestTimeoutMs = 10_000;

/** Create the demo activity through the API, as an operator would. @returns its id. */
export async function createDemoActivity(apiUrl: string, operatorToken: string): Promise<number | string> {
  const response = await fetch(`${apiUrl}/v1/activities`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(demoActivity),
    signal: AbortSignal.timeout(requestTimeoutMs),
  });
  const text = await response.text();
  if (response.status !== 201) {
    throw new Error(`The API refused the demo activity: ${response.status} ${text.slice(0, 500)}`);
  }
  return activityView.parse(JSON.parse(text)).id;
}
