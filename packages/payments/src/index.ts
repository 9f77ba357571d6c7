export { statusOfCapture } from './captured-status.ts';
export { openPaymentProvider, openWebhookCheck } from './open-payment-provider.ts';
export type {
  AttemptRequest,
  AttemptStatus,
  Capture,
  CreatedAttempt,
  PaymentProvider,
  ProviderEvent,
  RefundAnswer,
  RefundRequest,
  Returned,
  SignedRequest,
} from './payment-provider.ts';
export { ProviderRefusedError, ProviderUnavailableError, WebhookBodyError } from './provider-errors.ts';
