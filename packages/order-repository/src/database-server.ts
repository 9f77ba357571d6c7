/** The MySQL or MariaDB server, as a session of ours has it. */
export interface DatabaseServer {
  readonly version: string;
  /** Of our sessions: READ-COMMITTED, or something forces another one. */
  readonly isolation: string;
  /** It takes no writes: a replica, or an old primary after a failover. */
  readonly readOnly: boolean;
  /** What is acknowledged is on disk: 1. With 0 and 2 a crash of the server or of its machine loses up to a second. */
  readonly flushAtCommit: number;
  readonly connectionsMax: number;
}
