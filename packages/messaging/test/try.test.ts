import { testRocketmq, testTopicPrefix } from '@lapse/testing';
import { createLogger } from '@lapse/runtime';
import { test } from 'vitest';
import { createTopics, openTimeoutSender, consumeTimeouts } from '@lapse/messaging';
