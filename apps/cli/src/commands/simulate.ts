import { createActivityBody, durationMs } from '@lapse/contracts';
import { openActivity } from '@lapse/operations';
import type { Order } from '@lapse/order-repository';
import {
  type ApiClientConfig,
  createApiClient,
  createProviderClient,
  createTally,
  type ProviderClientConfig,
  planSale,
  playSale,
  type Tally,
} from '@lapse/sale-player';
import { z } from 'zod';
import { wouldDo } from '../change-result.ts';
import type { Command, CommandResult } from '../command.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { askedChange } from '../operator-request.ts';
import { readInput, typedNumber } from '../read-input.ts';
import { refusedResult } from '../refused-result.ts';
import { simulateShape } from '../shapes/simulate.ts';
import { awaitRest, type Rested } from '../simulate/await-rest.ts';
import { table } from '../table.ts';
import { UsageError } from '../usage-error.ts';

const share = z
  .string()
  .regex(/^(100|[1-9]?[0-9])%$/, 'must be a share such as 30%')
  .transform((text) => Number(text.slice(0, -1)) / 100);
const options = z.object({
  buyers: typedNumber.pipe(z.int().min(1).max(20_000)),
  places: typedNumber,
  pay: share,
  payLate: share,
  cancel: share,
  rush: durationMs(0, 600_000, 'How long the rush lasts.'),
  payWithin: z.string(),
  remindAfter: z.string(),
  api: z.url({ protocol: /^https?$/ }).optional(),
});

const name = 'A simulated sale';
const priceMinor = 8_800;
const drawEveryMs = 250;

/**
 * `lapse simulate`: put an activity on sale in the running system, and let buyers of the shape that was asked for live it
 * over the API. Real orders, real deadlines; the money is the payment simulator's, and no other provider's.
 */
export const simulate: Command = async (context, input) => {
  const typed = readInput(options, input.options);
  const shares = { pay: typed.pay, payAtDeadline: typed.payLate, cancel: typed.cancel };
  if (shares.pay + shares.payAtDeadline + shares.cancel > 1 + 1e-9) {
    throw new UsageError('--pay, --pay-late and --cancel together must be at most 100%');
  }
  const body = readInput(createActivityBody, {
    ...{ name, capacity: typed.places, priceMinor, currency: 'CNY' },
    ...{ payWithinMs: typed.payWithin, remindAfterMs: typed.remindAfter },
  });
  const plan = planSale({
    ...{ buyers: typed.buyers, shares, rushMs: typed.rush, secondWaveAtMs: undefined },
    activities: [{ name, capacity: body.capacity }],
  });
  const { apply, request } = askedChange(input, 'simulate', [body, typed]);
  if (!apply) {
    return wouldDo(`${typed.buyers} buyers would try for ${body.capacity} places of a new activity`, body);
  }
  const clients = clientsOf(context, typed.api);
  const stores = { orders: await context.orders(), stock: await context.stock(), log: context.log };
  const opened = await openActivity(stores, body, request);
  if (opened.kind === 'refused') throw new Error('an activity was refused');
  if (opened.kind === 'key_reused') return refusedResult({ code: 'IDEMPOTENCY_KEY_REUSED' });
  if (opened.kind === 'replayed') throw new UsageError('--key was used before: this sale has been played');
  const activity = JSON.parse(opened.answer.body.toString());
  const tally = createTally();
  const drawing = setInterval(() => {
    const { orders, refused } = tally.counts;
    const text = `${typed.buyers} buyers live the sale of activity ${activity.id} …`;
    context.progress(text, (orders + refused) / typed.buyers);
  }, drawEveryMs);
  await playSale(clients, plan, [activity], tally).finally(() => clearInterval(drawing));
  const rested = await awaitRest(context, activity.id, tally.counts.lastDeadline);
  const free = (await stores.orders.readActivity(activity.id))?.available ?? 0;
  return resultOf({ id: activity.id, buyers: typed.buyers, capacity: body.capacity, free }, rested, tally);
};

function clientsOf(context: Context, apiUrl: string | undefined) {
  const { http, auth, payment } = context.config('http', 'auth', 'payment');
  if (auth.jwtSecret === undefined) {
    throw new UsageError('a simulated sale signs tokens for its buyers: LAPSE_JWT_SECRET must be set');
  }
  if (payment.provider !== 'simulator' || payment.url === undefined || payment.apiKey === undefined) {
    throw new UsageError('a simulated sale takes no real money: LAPSE_PAYMENT_PROVIDER must be simulator');
  }
  const api: ApiClientConfig = {
    apiUrl: apiUrl ?? `http://127.0.0.1:${http.port}`,
    jwtSecret: auth.jwtSecret,
    jwtAudience: auth.audience,
  };
  const provider: ProviderClientConfig = { providerUrl: payment.url, providerKey: payment.apiKey };
  return { api: createApiClient(api), provider: createProviderClient(provider) };
}

interface PlayedActivity {
  readonly id: number;
  readonly buyers: number;
  readonly capacity: number;
  readonly free: number;
}

function resultOf(
  { id, buyers, capacity, free }: PlayedActivity,
  { orders, agrees }: Rested,
  { counts }: Tally,
): CommandResult {
  const byStatus: Record<string, number> = {};
  for (const { status } of orders) byStatus[status] = (byStatus[status] ?? 0) + 1;
  const late = orders.flatMap(latenessOf).sort((a, b) => a - b);
  const early = late.filter((ms) => ms < 0).length;
  const at = (part: number): number => late[Math.ceil(part * late.length) - 1] ?? 0;
  const data = {
    ...{ activityId: id, buyers, orders: byStatus, refused: Object.fromEntries(counts.refusals) },
    paidTooLate: counts.lateRefunds,
    paidTooLateOrders: [...counts.lateOrders],
    latenessMs: late.length === 0 ? null : { p50: at(0.5), p99: at(0.99), max: at(1) },
    ...{ early, places: { capacity, free }, agrees, unexpected: [...counts.unexpected] },
  };
  const isSound = agrees && early === 0 && counts.unexpected.length === 0;
  return {
    shape: simulateShape,
    data,
    text: textOf(data),
    exitCode: isSound ? exitCodes.ok : exitCodes.found,
  };
}

/** Of an order that closed at its deadline. */
function latenessOf({ status, closedAt, expiresAt }: Order): number[] {
  return status === 'TIMEOUT_CLOSED' && closedAt ? [closedAt.getTime() - expiresAt.getTime()] : [];
}

function textOf(data: z.output<typeof simulateShape>): string {
  const { orders, refused, latenessMs, places } = data;
  const counted = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([word, count]) => `${count} ${word}`)
      .join(', ') || 'none';
  const rows = [
    ['activity', `${data.activityId}: ${data.buyers} buyers, ${places.capacity} places`],
    ['orders', counted(orders)],
    ['refused', counted(refused)],
    ['paid too late', `${data.paidTooLate}: their money goes back`],
    ...data.paidTooLateOrders.map((id) => ['', `lapse explain ${id}`]),
    [
      'lateness',
      latenessMs === null
        ? 'nothing closed at its deadline'
        : `p50 ${latenessMs.p50} ms, p99 ${latenessMs.p99} ms, max ${latenessMs.max} ms; early ${data.early}`,
    ],
    ['places free', `${places.free} of ${places.capacity}`],
    [
      'MySQL and Redis',
      data.agrees ? 'agree on every order' : 'do not agree, or orders are still open: lapse audit',
    ],
  ];
  return [table(['sale', ''], rows), ...data.unexpected.map((what) => `unexpected: ${what}`)].join('\n');
}
