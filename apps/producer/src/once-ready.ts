/**
 * A check that counts until it has passed once. A producer that never reached the broker is not set up right
 * and takes no traffic; one that loses the broker later goes on selling, because orders wait in the outbox.
 */
export function onceReady(check: () => Promise<void>): () => Promise<void> {
  let passed = false;
  return async () => {
    if (passed) return;
    await check();
    passed = true;
  };
}
