import { expect, test } from 'vitest';
import { welcomeText } from '../src/welcome.ts';

test('beside the curl that places an order stands how to see it on the page', () => {
  const state = {
    pid: 1,
    startedAt: '2030-01-01T00:00:00.000Z',
    apiUrl: 'http://127.0.0.1:8080',
    pageUrl: 'http://127.0.0.1:8088',
    simulatorUrl: 'http://127.0.0.1:8090',
    mysqlUrl: 'mysql://root:secret@127.0.0.1:3306/lapse',
    redisUrl: 'redis://127.0.0.1:6379',
    rocketmqEndpoints: '127.0.0.1:8081',
    rocketmqNamesrv: null,
    topicPrefix: '',
    opsUrls: {},
  };
  const tokens = { buyerToken: 'b', operatorToken: 'o' };
  const text = welcomeText({ state, activityId: 1, ...tokens, dataDir: '/data' });
  expect(text).toContain(
    'http://127.0.0.1:8088/sign-in with the BUYER token below, or http://127.0.0.1:8088/ops',
  );
  expect(text).not.toContain('secret');
});
