/** What this package throws when the broker, or a call of ours, is at fault. `code` is for programs. */
export type MessagingErrorCode =
  | 'LAPSE_ROCKETMQ_START'
  | 'LAPSE_ROCKETMQ_CLIENT'
  | 'LAPSE_ROCKETMQ_DENIED'
  | 'LAPSE_ROCKETMQ_TLS'
  | 'LAPSE_TOPIC_MISSING'
  | 'LAPSE_MESSAGE_INVALID'
  | 'LAPSE_SENDER_NOT_CONNECTED'
  | 'LAPSE_TOPICS_NAMESRV'
  | 'LAPSE_TOPICS_REFUSED'
  | 'LAPSE_TOPICS_TIMEOUT';

export class MessagingError extends Error {
  readonly code: MessagingErrorCode;

  constructor(code: MessagingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MessagingError';
    this.code = code;
  }
}
