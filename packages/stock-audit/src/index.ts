export { compareStock, type Difference, type DifferenceKind, differenceKinds } from './compare-stock.ts';
export { confirmDrift } from './confirm-drift.ts';
export { type DriftFinding, describeDrift } from './describe-drift.ts';
export { type LookPorts, lookAtStock } from './look-at-stock.ts';
export { type MendedDrift, type MendPorts, mendDrift } from './mend-drift.ts';
export { type ExpectedLoad, rebuildStock } from './rebuild-stock.ts';
