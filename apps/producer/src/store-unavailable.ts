import { CommitUnknownError, isUnavailable } from '@lapse/order-repository';
import { BatcherClosedError } from '@lapse/runtime';
import { isStockUnavailable } from '@lapse/stock';
import { KeysUnavailableError } from './verify-public-keys.ts';

/** Whether a store, or the login service's keys, did not answer, so that the caller should come back; anything else thrown is a fault. */
export function isStoreUnavailable(error: unknown): boolean {
  return (
    isUnavailable(error) ||
    error instanceof CommitUnknownError ||
    isStockUnavailable(error) ||
    error instanceof KeysUnavailableError ||
    error instanceof BatcherClosedError
  );
}
