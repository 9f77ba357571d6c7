import { expect, test } from 'vitest';
import { planClose } from '../src/plan-close.ts';

const limits = { awaitMs: 5_000, closeTimeoutMs: 10_000, shutdownTimeoutMs: 15_000 };

test.each([
  limits,
  { ...limits, awaitMs: 8_000 },
  // What npm start gives.
  { ...limits, closeTimeoutMs: 7_000, shutdownTimeoutMs: 8_000 },
  { awaitMs: 20_000, closeTimeoutMs: 60_000, shutdownTimeoutMs: 25_000 },
])(
  'with %o every receive comes back, and all of it is over in the time that a part gets to close',
  (given) => {
    const { pollsMs, workMs, handBackMs, clientMsMax } = planClose(given);
    expect(pollsMs).toBeGreaterThan(given.awaitMs);
    expect(workMs).toBeGreaterThan(pollsMs);
    expect(handBackMs).toBeGreaterThan(workMs);
    expect(handBackMs + clientMsMax).toBeLessThan(Math.min(given.closeTimeoutMs, given.shutdownTimeoutMs));
  },
);

test.each([
  { ...limits, awaitMs: 20_000 },
  { ...limits, closeTimeoutMs: 6_999 },
  { ...limits, shutdownTimeoutMs: 6_999 },
])('with %o it would be cut off: refused, with all three variables and what to do', (given) => {
  expect(() => planClose(given)).toThrow(
    expect.objectContaining({
      code: 'LAPSE_CONFIG_INVALID',
      message: expect.stringMatching(
        /LAPSE_RECEIVE_AWAIT.*LAPSE_SHUTDOWN_STEP_TIMEOUT.*LAPSE_SHUTDOWN_TIMEOUT.*make it shorter, or those longer/,
      ),
    }),
  );
});
