/**
 * A check that counts until it has passed once. A producer that never reached a service is not set up right
 * and takes no traffic. One that loses the broker later goes on selling, because orders wait in the outbox; one that
 * loses Redis answers creates with 503, and goes on with payments, cancels and reads, which need MySQL alone.
 */
export function onceReady(check: () => Promise<void>): () => Promise<void> {
  let passed = false;
  return async () => {
    if (passed) return;
    await check();
    passed = true;
  };
}
