import { describe, expect, test } from 'vitest';
import { createLogger } from '../src/index.ts';

function createCapture(level: 'info' | 'debug' = 'info') {
  const lines: string[] = [];
  const log = createLogger('closer', level, { write: (line) => lines.push(line) });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') };
}

describe('the log', () => {
  test('is one JSON object a line, with ISO time, level by name, and the process name', () => {
    const { log, lines, last } = createCapture();
    log.info({ orderId: 'o1' }, 'two\nlines');
    log.debug('not written');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.trimEnd()).not.toContain('\n');
    expect(last()).toMatchObject({ level: 'info', name: 'closer', orderId: 'o1', msg: 'two\nlines' });
    expect(last().time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('hides secret fields at any of the depths we log', () => {
    const { log, lines } = createCapture();
    log.info({
      authorization: 'Bearer hunter2',
      headers: { authorization: 'Bearer hunter2', cookie: 'hunter2' },
      config: { auth: { jwtSecret: 'hunter2', webhookSecret: 'hunter2' }, secretKey: 'hunter2' },
      req: { headers: { authorization: 'hunter2' } },
    });
    expect(lines.join()).not.toContain('hunter2');
    expect(lines.join()).toContain('[hidden]');
  });

  test.each([
    'mysql://lapse:hunter2@127.0.0.1:3306/lapse',
    'redis://:hunter2@127.0.0.1:6379',
    'amqp://user:p%40hunter2@host',
    'mysql://lapse:with@hunter2@db/lapse',
  ])('hides the password of %s in fields, messages and errors', (url) => {
    const { log, lines } = createCapture();
    log.info({ url }, `connecting to ${url}`);
    log.error(new Error(`cannot connect to ${url}`, { cause: new Error(url) }));
    expect(lines.join()).not.toContain('hunter2');
    expect(lines.join()).toContain('[hidden]');
    for (const line of lines) JSON.parse(line);
  });

  test('leaves addresses without a password alone', () => {
    const { log, last } = createCapture();
    log.info('see http://127.0.0.1:8080/a:b@c and http://h:8080/x');
    expect(last().msg).toBe('see http://127.0.0.1:8080/a:b@c and http://h:8080/x');
  });

  test('shows an error with code and causes, and nothing else that a driver hung on it', () => {
    const { log, last, lines } = createCapture();
    const cause = Object.assign(new Error('lost'), {
      code: 'PROTOCOL_CONNECTION_LOST',
      sql: 'INSERT … hunter2',
    });
    log.error({ err: new Error('closing failed', { cause }) }, 'batch failed');
    expect(last().err).toMatchObject({
      type: 'Error',
      message: 'closing failed',
      cause: { message: 'lost', code: 'PROTOCOL_CONNECTION_LOST' },
    });
    expect(lines.join()).not.toContain('hunter2');
  });

  test('an error that is its own cause, or has a huge message, makes a bounded line', () => {
    const { log, lines } = createCapture();
    const circular = new Error('x'.repeat(1_000_000));
    circular.cause = circular;
    log.error(circular);
    expect(lines[0]?.length).toBeLessThan(100_000);
  });
});
