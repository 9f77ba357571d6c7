import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Counter, createLogger, type Ops, serveOps } from '../src/index.ts';

const log = createLogger('test', 'silent');
const open: Ops[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((ops) => ops.close()));
});

async function openOps(): Promise<Ops> {
  const ops = await serveOps({ host: '127.0.0.1', port: 0 }, log);
  open.push(ops);
  return ops;
}

const get = (ops: Ops, path: string, init?: RequestInit) =>
  fetch(`http://127.0.0.1:${ops.port}${path}`, init);

describe('the ops server', () => {
  test('is alive as soon as it listens, and ready only when told so', async () => {
    const ops = await openOps();
    expect((await get(ops, '/healthz')).status).toBe(200);
    expect((await get(ops, '/readyz')).status).toBe(503);
    ops.setReady(true);
    const answer = await get(ops, '/readyz');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ pid: process.pid, ready: true, checks: {} });
  });

  test('one failing check makes it not ready, and the answer lists every check without a password', async () => {
    const ops = await openOps();
    ops.setReady(true);
    ops.addCheck('mysql', async () => {});
    ops.addCheck('redis', async () => {
      throw new Error('redis://:hunter2@127.0.0.1 is away');
    });
    const answer = await get(ops, '/readyz');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      ready: false,
      checks: { mysql: { ok: true }, redis: { ok: false, fault: 'redis://:[hidden]@127.0.0.1 is away' } },
    });
    expect((await get(ops, '/healthz')).status).toBe(200);
  });

  test('checks that hang cost one second together, and are not started again while they hang', async () => {
    const ops = await openOps();
    ops.setReady(true);
    let started = 0;
    for (const name of ['a', 'b']) {
      ops.addCheck(name, () => {
        started += 1;
        return new Promise(() => {});
      });
    }
    const probe = get(ops, '/readyz');
    // One after the other, the second would start only when the first one's second is over.
    await vi.waitUntil(() => started === 2, { timeout: 900, interval: 5 });
    expect((await probe).status).toBe(503);
    // Past the time that a result is kept, a second probe waits for the same checks.
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect((await get(ops, '/readyz')).status).toBe(503);
    expect(started).toBe(2);
  });

  test('a check that counts until it has passed is shown as it is for ever', async () => {
    const ops = await openOps();
    ops.setReady(true);
    let check = async (): Promise<void> => Promise.reject(new Error('away'));
    ops.addCheck('redis', () => check(), { counts: 'until-passed' });
    const look = async () => (await (await get(ops, '/readyz')).json()) as object;
    expect(await look()).toMatchObject({ ready: false, checks: { redis: { ok: false } } });
    check = async () => {};
    await vi.waitUntil(async () => (await get(ops, '/readyz')).ok, 3_000);
    check = () => new Promise(() => {});
    await vi.waitFor(
      async () => expect(await look()).toMatchObject({ ready: true, checks: { redis: { ok: false } } }),
      3_000,
    );
  });

  test('many probes at once cost one round of checks', async () => {
    const ops = await openOps();
    let started = 0;
    ops.addCheck('mysql', async () => {
      started += 1;
    });
    await Promise.all(Array.from({ length: 20 }, () => get(ops, '/readyz')));
    expect(started).toBe(1);
  });

  test('stops being ready when the process begins to stop, whatever is set later', async () => {
    const ops = await openOps();
    ops.setReady(true);
    ops.stopping?.();
    ops.setReady(true);
    expect((await get(ops, '/readyz')).status).toBe(503);
    expect((await get(ops, '/healthz')).status).toBe(200);
  });

  test('serves own metrics and those of Node, the event loop lag among them', async () => {
    const ops = await openOps();
    new Counter({ name: 'lapse_test_total', help: 'Only a test.' }).inc(3);
    const answer = await get(ops, '/metrics');
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(text).toContain('lapse_test_total 3');
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
  });

  test('knows no other path and no other method', async () => {
    const ops = await openOps();
    expect((await get(ops, '/')).status).toBe(404);
    expect((await get(ops, '/healthz/../x')).status).toBe(404);
    expect((await get(ops, '/healthz', { method: 'POST', body: 'x' })).status).toBe(405);
    expect((await get(ops, '/healthz?from=probe')).status).toBe(200);
    expect((await get(ops, '/healthz', { method: 'HEAD' })).status).toBe(200);
  });

  test('refuses headers without end', async () => {
    const ops = await openOps();
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request(
        { port: ops.port, host: '127.0.0.1', path: '/healthz', headers: { x: 'y'.repeat(20_000) } },
        (answer) => resolve(answer.resume().statusCode),
      );
      outgoing.on('error', reject).end();
    });
    expect(status).toBe(431);
  });

  test('a port in use fails the start with the reason', async () => {
    const ops = await openOps();
    await expect(serveOps({ host: '127.0.0.1', port: ops.port }, log)).rejects.toThrow('EADDRINUSE');
  });

  test('closes at once though a client holds its connection, and may be closed twice', async () => {
    const ops = await openOps();
    const client = connect(ops.port, '127.0.0.1');
    await new Promise((resolve) => client.once('connect', resolve));
    const gone = new Promise((resolve) => client.once('close', resolve));
    client.on('error', () => {});
    client.resume();
    await ops.close();
    await gone;
    await ops.close();
  });
});
