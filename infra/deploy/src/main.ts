import { createPrinter, explain, onStop, openTestServices, rootDir } from '@lapse/stack';
import { createTestDatabase, createTestRedis, testRocketmq, testTopicPrefix } from '@lapse/testing';
import { checkDeploy, type DeployResult } from './check-deploy.ts';
import { describeImages } from './describe-images.ts';

/** `npm run check:deploy`: the last line says what it came to. */
const print = createPrinter();
const stop = new AbortController();
let kill = (): void => {};

onStop(
  (why) => {
    print.line(`stopping (${why})`);
    stop.abort();
  },
  () => {
    kill();
    process.exit(130);
  },
);

const result = await run().catch((error: unknown) => print.line(`\n${explain(error)}`));
print.end();
if (result) {
  print.line(describeImages(result.reports));
  for (const fault of result.faults) print.line(`  ${fault}`);
  print.line(result.line);
}
process.exit(stop.signal.aborted ? 130 : result?.ok ? 0 : 1);

async function run(): Promise<DeployResult> {
  const services = await openTestServices(print, false, stop.signal);
  kill = services.kill;
  try {
    Object.assign(process.env, services.env);
    const mysql = await createTestDatabase();
    const redis = await createTestRedis();
    const { endpoints, namesrv } = testRocketmq();
    const stores = {
      ...{ mysqlUrl: mysql.url, redisUrl: redis.url, topicPrefix: testTopicPrefix() },
      ...{ rocketmqEndpoints: endpoints, rocketmqNamesrv: namesrv },
    };
    return await print.step('images and manifests', 'images and manifests checked', () =>
      checkDeploy(rootDir, stores, stop.signal),
    );
  } finally {
    await print.step('stopping services', 'services stopped', services.close);
  }
}
