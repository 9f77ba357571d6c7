import {
  createApiClient,
  createProviderClient,
  createTally,
  mixedShares,
  openActivities,
  planSale,
  planSteady,
  playSale,
} from '@lapse/sale-player';
import { readDemoConfig } from './demo-config.ts';
import { judgeSale } from './judge-sale.ts';
import { showProgress } from './progress.ts';
import { closingLine, renderReport, saleHolds } from './report.ts';

/** Fewer places than the first rush asks for. */
const demoActivities = [
  { name: 'Evening show', capacity: 400 },
  { name: 'Matinee', capacity: 300 },
];
/** How long the first rush lasts. */
const rushMs = 6_000;
/** The second wave comes this long after the first deadlines: for the places that came back. */
const secondWaveAfterMs = 2_000;

/** How long a steady stream runs. */
const steadySeconds = 60;

/** Plays a sale against the running system and judges it. This file only wires. */
async function main(): Promise<number> {
  const config = readDemoConfig(process.argv.slice(2), process.env);
  const api = createApiClient(config);
  const plan =
    config.steadyPerSecond === undefined
      ? planSale({
          buyers: config.buyers,
          activities: demoActivities,
          shares: mixedShares,
          rushMs,
          secondWaveAtMs: config.secondWave ? config.payWithinMs + secondWaveAfterMs : undefined,
        })
      : planSteady(config.steadyPerSecond, steadySeconds);
  const activities = await openActivities(api, plan, config);
  process.stdout.write(
    `${plan.buyers.length} buyers, ${activities.map(({ name, capacity }) => `${name}: ${capacity} places`).join(', ')}; ` +
      `reminder after ${config.remindAfterMs / 1000} s, close after ${config.payWithinMs / 1000} s\n`,
  );
  const tally = createTally();
  const progress = showProgress(tally, Date.now());
  try {
    await playSale({ api, provider: createProviderClient(config) }, plan, activities, tally);
  } finally {
    progress.stop();
  }
  process.stdout.write('waiting for the last deadlines, then the verdict\n');
  const verdict = await judgeSale(
    config,
    activities.map(({ id }) => id),
    tally,
  );
  process.stdout.write(`${renderReport(verdict, tally)}\n${closingLine(verdict)}\n`);
  return saleHolds(verdict, tally) ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
