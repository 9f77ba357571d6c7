/**
 * Anything a process opens and must close: a pool, a client, a server, a loop.
 * `run` closes in reverse order of opening, each in its own time box.
 */
export interface Closable {
  /** Resolves once nothing of it runs any more. Safe to call twice. */
  close(): Promise<void>;
  /**
   * Called on everything at once when the process begins to stop, before the first `close`:
   * the place to stop taking new work, or to tell a load balancer. Must not throw or block.
   */
  stopping?(): void;
}
