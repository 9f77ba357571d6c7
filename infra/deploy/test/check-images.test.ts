import { rootDir } from '@lapse/stack';
import {
  createTestDatabase,
  createTestRedis,
  type TestDatabase,
  type TestRedis,
  testRocketmq,
  testTopicPrefix,
} from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkDeploy } from '../src/check-deploy.ts';
import { describeImages } from '../src/describe-images.ts';

let database: TestDatabase;
let redis: TestRedis;

beforeAll(async () => {
  database = await createTestDatabase();
  redis = await createTestRedis();
});

afterAll(async () => {
  await redis.close();
  await database.drop();
});

test('every image starts from its production tree alone, writes nothing, and every manifest is right', {
  timeout: 300_000,
}, async () => {
  const { endpoints, namesrv } = testRocketmq();
  const stores = {
    ...{ mysqlUrl: database.url, redisUrl: redis.url, topicPrefix: testTopicPrefix() },
    ...{ rocketmqEndpoints: endpoints, rocketmqNamesrv: namesrv },
  };
  const { faults, line, reports } = await checkDeploy(rootDir, stores, new AbortController().signal);
  // For whoever reads the log of a run: the figures change with the machine, and none of them is judged.
  process.stdout.write(`${describeImages(reports)}\n${line}\n`);
  expect(faults).toEqual([]);
  expect(line).toBe('deploy: images=8/8 manifests=ok');
});
