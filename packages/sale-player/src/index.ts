export { type ApiClientConfig, createApiClient } from './api-client.ts';
export { createProviderClient, type ProviderClientConfig } from './provider-client.ts';
export { openActivities, playSale } from './sale.ts';
export { mixedShares, planSale, planSteady, type SalePlan, type SaleShape } from './sale-plan.ts';
export { createTally, type Tally } from './tally.ts';
