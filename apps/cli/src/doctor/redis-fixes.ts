/** What mends a Redis, whether it was looked at or refused: said in the same words. */
export const redisFixes = {
  master: 'LAPSE_REDIS_URL must name the master',
  disk: 'free its disk, or correct its permissions',
  replicas: 'start its replicas, or lower min-replicas-to-write: without them it takes no writes',
  memory: 'raise maxmemory: when it is full Redis refuses new holds',
} as const;
