export type BenchErrorCode =
  | 'LAPSE_BENCH_ARGUMENT'
  | 'LAPSE_BENCH_ENVIRONMENT'
  | 'LAPSE_BENCH_NOT_ARMED'
  | 'LAPSE_BENCH_PROGRAM'
  | 'LAPSE_BENCH_REPORT';

/** What a person can meet while measuring. The message says what happened and what to do. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
  readonly code: BenchErrorCode;

  constructor(code: BenchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
