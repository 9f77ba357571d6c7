import { type CommandTools, openTestServices, rootDir, runCommand } from '@lapse/stack';
import { createTestDatabase, createTestRedis, testRocketmq, testTopicPrefix } from '@lapse/testing';
import { checkDeploy, type DeployResult } from './check-deploy.ts';
import { describeImages } from './describe-images.ts';

/** `npm run check:deploy`: the last line says what it came to. */
await runCommand(async (tools) => {
  const { reports, faults, line, ok } = await check(tools);
  tools.print.end();
  tools.print.line(describeImages(reports));
  for (const fault of faults) tools.print.line(`  ${fault}`);
  tools.print.line(line);
  return ok ? 0 : 1;
});

async function check({ print, signal, onKill }: CommandTools): Promise<DeployResult> {
  const services = await openTestServices(print, false, signal);
  onKill(services.kill);
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
      checkDeploy(rootDir, stores, signal),
    );
  } finally {
    await print.step('stopping services', 'services stopped', services.close);
  }
}
