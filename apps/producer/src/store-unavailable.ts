import { CommitUnknownError, isUnavailable } from '@lapse/order-repository';
import { BatcherClosedError } from '@lapse/runtime';
import { StockUnavailableError } from '@lapse/stock';

/** Whether a store did not answer, so that the caller should come back; anything else thrown is a fault. */
export function isStoreUnavailable(error: unknown): boolean {
  return (
    isUnavailable(error) ||
    error instanceof CommitUnknownError ||
    error instanceof StockUnavailableError ||
    error instanceof BatcherClosedError
  );
}
