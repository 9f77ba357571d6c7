import { TimeoutError } from 'tarn';
import { CommitUnknownError, StoreRefusedError, StoreUnavailableError } from './errors.ts';

/** What mysql2 puts on an error. */
interface MysqlError extends Error {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
  readonly fatal?: boolean;
}

const duplicateKey = 1062;
const deadlock = 1213;
const lockWaitTimeout = 1205;
/** MariaDB at REPEATABLE READ only; here against a server that forces it. */
const recordChanged = 1020;

/** Codes of mysql2 and of the socket that end a connection, in case `fatal` is not set. */
const lostCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR',
]);

/**
 * Server errors that say "not now" of the whole server: too many connections, shutting down, killed
 * (MySQL and MariaDB), starting, disk or memory full.
 */
const awayErrnos = new Set([1040, 1053, 3169, 1927, 1317, 1021, 1037, 1041, 1114, 4031]);

/**
 * A server that takes no writes: after a failover the old primary may be left up so. Only a new connection finds the
 * new one.
 */
const readOnlyErrnos = new Set([1290, 1792, 1836]);

/** No TLS at all, or one that is not to be trusted: codes of mysql2. */
const tlsCodes = new Set(['HANDSHAKE_SSL_ERROR', 'HANDSHAKE_NO_SSL_SUPPORT']);
const tlsAdvice =
  "the CA that signed the server's certificate belongs into LAPSE_MYSQL_TLS_CA_FILE, and LAPSE_MYSQL_URL must name the host as the certificate does";

/** The login, the database, or a connection that is not encrypted (MySQL, MariaDB). */
const deniedErrnos = new Set([1044, 1045, 1698, 3159, 4151]);
const deniedAdvice =
  'check user, password and database of LAPSE_MYSQL_URL and the rights of that user; a user that must come by TLS needs LAPSE_MYSQL_TLS=true';

function asMysqlError(error: unknown): MysqlError | undefined {
  return error instanceof Error ? (error as MysqlError) : undefined;
}

/** The statement, and it alone, was undone because its row is there already. */
export function isDuplicateKey(error: unknown): boolean {
  return asMysqlError(error)?.errno === duplicateKey;
}

/** Another transaction was in the way, and this one was, or must be, rolled back: the same again may do. */
export function isContention(error: unknown): boolean {
  const errno = asMysqlError(error)?.errno;
  return errno === deadlock || errno === lockWaitTimeout || errno === recordChanged;
}

/** A row stayed locked for as long as a lock is waited for; unlike a deadlock, waiting again may take as long. */
export function isLockWaitTimeout(error: unknown): boolean {
  return asMysqlError(error)?.errno === lockWaitTimeout;
}

/** The connection is gone, in a state that nobody knows, or leads to the wrong server: it is never used again. */
export function isConnectionLost(error: unknown): boolean {
  const fault = asMysqlError(error);
  if (fault === undefined) return false;
  return fault.fatal === true || lostCodes.has(fault.code ?? '') || readOnlyErrnos.has(fault.errno ?? 0);
}

/** MySQL as a whole cannot serve now; nothing is wrong with the statement or its rows. */
function isServerAway(error: unknown): boolean {
  const fault = asMysqlError(error);
  if (fault === undefined) return false;
  return isConnectionLost(fault) || awayErrnos.has(fault.errno ?? 0);
}

/**
 * The server refused the values of a row: out of range, a constraint, a trigger's SIGNAL. Said of one order
 * alone, it is that order's fault and not the system's.
 */
export function isRowFault(error: unknown): boolean {
  const fault = asMysqlError(error);
  const checkConstraint = 3819;
  return /^(22|23|45)/.test(fault?.sqlState ?? '') || fault?.errno === checkConstraint;
}

/**
 * What an error of an operation says to a worker. `away`: MySQL does not answer, and the same again later will do.
 * `busy`: the same rows stay locked by others. `fault`: anything else.
 */
export function judgeStoreFault(error: unknown): 'away' | 'busy' | 'fault' {
  if (error instanceof CommitUnknownError) return 'away';
  if (!(error instanceof StoreUnavailableError)) return 'fault';
  return isContention(error.cause) ? 'busy' : 'away';
}

/** The error as callers see it: StoreUnavailableError where waiting helps, else itself. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreUnavailableError) return error;
  if (isContention(error)) {
    return new StoreUnavailableError('the same rows stayed locked by others', { cause: error });
  }
  if (error instanceof TimeoutError) {
    return new StoreUnavailableError('no connection of the pool came free in time', { cause: error });
  }
  const refused = refusalOf(error);
  if (refused !== undefined) return refused;
  if (isServerAway(error)) {
    const fault = asMysqlError(error);
    return new StoreUnavailableError(fault?.code ?? fault?.message ?? 'no answer', { cause: error });
  }
  return error;
}

function refusalOf(error: unknown): StoreRefusedError | undefined {
  const fault = asMysqlError(error);
  if (fault === undefined) return undefined;
  if (tlsCodes.has(fault.code ?? '')) {
    const reason = `TLS with it failed (${fault.message}); ${tlsAdvice}`;
    return new StoreRefusedError('LAPSE_MYSQL_TLS', reason, { cause: fault });
  }
  if (deniedErrnos.has(fault.errno ?? 0)) {
    const reason = `it refused the login (${fault.message}); ${deniedAdvice}`;
    return new StoreRefusedError('LAPSE_MYSQL_DENIED', reason, { cause: fault });
  }
  return undefined;
}
