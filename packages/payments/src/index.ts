export type {
  AttemptRequest,
  AttemptStatus,
  Capture,
  CreatedAttempt,
  PaymentProvider,
  ProviderEvent,
  RefundAnswer,
  RefundRequest,
} from './payment-provider.ts';
export { ProviderRefusedError, ProviderUnavailableError } from './provider-errors.ts';
