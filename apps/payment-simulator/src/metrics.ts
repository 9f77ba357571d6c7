import { Counter, Gauge } from '@lapse/runtime';

export const moneyMoved = new Counter({
  name: 'lapse_sim_moves_total',
  help: 'Captures and refunds.',
  labelNames: ['move'] as const,
});

export const deliveriesEnded = new Counter({
  name: 'lapse_sim_deliveries_total',
  help: 'Tries to deliver an event, by what came of them.',
  labelNames: ['outcome'] as const,
});

export const faultsMade = new Counter({
  name: 'lapse_sim_api_faults_total',
  help: 'API calls that were spoilt on purpose.',
  labelNames: ['fault'] as const,
});

export const attemptsKept = new Gauge({ name: 'lapse_sim_attempts', help: 'Attempts in the books.' });
