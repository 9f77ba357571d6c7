import { Counter, createCallMeter, Gauge } from '@lapse/runtime';

/** A receive is a long poll: its time says nothing of the broker. */
export const brokerCalls = createCallMeter('broker', ['send', 'ack']);

/** Timeout messages taken from the broker, redeliveries included. */
export const messagesReceived = new Counter({
  name: 'lapse_messages_received_total',
  help: 'Timeout messages received, redeliveries included',
  labelNames: ['phase'],
});

export const messagesAcked = new Counter({
  name: 'lapse_messages_acked_total',
  help: 'Timeout messages acknowledged',
  labelNames: ['phase'],
});

/** Anything above zero wants a person: something else writes to our topics, or a release is out of step. */
export const messagesParked = new Counter({
  name: 'lapse_messages_parked_total',
  help: 'Messages set aside because they could not be understood',
  labelNames: ['phase'],
});

/** Anything above zero wants a person: a worker failed on a message for as long as the broker let it. */
export const deadLettersParked = new Counter({
  name: 'lapse_dead_letters_parked_total',
  help: 'Messages that the broker gave up on, moved from its dead letters into the table "parked"',
  labelNames: ['phase'],
});

export const ordersInHand = new Gauge({
  name: 'lapse_orders_in_hand',
  help: 'Orders received and held in memory until they are due',
  labelNames: ['phase'],
});

export const messagesSent = new Counter({
  name: 'lapse_messages_sent_total',
  help: 'Timeout messages sent',
  labelNames: ['phase'],
});

export const sendFailures = new Counter({
  name: 'lapse_message_send_failures_total',
  help: 'Timeout messages that could not be sent; the outbox still has their orders',
  labelNames: ['phase'],
});
