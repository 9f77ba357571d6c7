/** What the auditor found, and did; or what the payment provider said that a person must look at. */
export interface Finding {
  readonly id: string;
  readonly at: Date;
  readonly activityId: number | null;
  readonly kind: string;
  readonly action: string;
  readonly detail: string;
  readonly healedAt: Date | null;
}
