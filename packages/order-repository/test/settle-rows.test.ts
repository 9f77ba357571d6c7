import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ParkedOutcome, StoredAnswer } from '../src/index.ts';
import { type Fixture, noAnswer, openFixture, outcomesOf } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const asked = { dryRun: false, actor: 'boss', reason: 'no use' };
const answer = (outcomes: readonly ParkedOutcome[]): StoredAnswer => ({
  status: 200,
  body: Buffer.from(JSON.stringify(outcomes)),
});
let parkedSoFar = 0;

function withKey(key: string, about: unknown = key) {
  const requestHash = createHash('sha256').update(JSON.stringify(about)).digest();
  return { ...asked, idempotency: { key, requestHash } };
}

async function park(count: number): Promise<number[]> {
  const { repository } = fixture;
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) {
    parkedSoFar += 1;
    const messageId = `settled-${parkedSoFar}`;
    await repository.parkMessage({ messageId, phase: 1, reason: 'x', body: Buffer.from(messageId) });
    const [row] = await fixture.query('SELECT id FROM parked WHERE ref = ?', [messageId]);
    ids.push(Number(row?.id));
  }
  return ids;
}

async function stateOf(ids: readonly number[]): Promise<unknown[]> {
  const rows = await fixture.query('SELECT state FROM parked WHERE id IN (?) ORDER BY id', [ids]);
  return rows.map(({ state }) => state);
}

async function countActions(): Promise<number> {
  const [row] = await fixture.query("SELECT COUNT(*) AS n FROM operator_action WHERE action = 'drop'");
  return Number(row?.n);
}

test('with one key, many requests at once and later settle once, and all get the same bytes', async () => {
  const ids = await park(3);
  const before = await countActions();
  const ask = () => fixture.repository.dropParked(ids, withKey('once'), answer);
  const all = await Promise.all(Array.from({ length: 10 }, ask));
  all.push(await ask());
  const bodies = all.map((result) => ('answer' in result ? result.answer.body.toString() : result.kind));
  expect(new Set(bodies).size).toBe(1);
  expect(JSON.parse(bodies[0] ?? '')).toEqual(ids.map((id) => ({ id, changed: true, kind: 'dropped' })));
  expect(all.filter(({ kind }) => kind === 'done')).toHaveLength(1);
  expect(await countActions()).toBe(before + 3);
});

test('negative control: without the key a repeat is answered as what it is, done before', async () => {
  const ids = await park(1);
  await outcomesOf(fixture.repository.dropParked(ids, asked, answer));
  expect(await outcomesOf(fixture.repository.dropParked(ids, asked, answer))).toMatchObject([
    { kind: 'settled', changed: false },
  ]);
});

test('a key that came with another request is refused, and nothing is done', async () => {
  const ids = await park(2);
  await fixture.repository.dropParked([ids[0] ?? 0], withKey('reused', 1), answer);
  const refused = await fixture.repository.dropParked([ids[1] ?? 0], withKey('reused', 2), answer);
  expect(refused).toEqual({ kind: 'key_reused' });
  expect(await stateOf(ids)).toEqual(['DROPPED', 'PARKED']);
});

test('a request that dies before its commit did nothing, and its repeat with the key does all of it', async () => {
  const ids = await park(3);
  const before = await countActions();
  const dies = () => {
    throw new Error('the process died here');
  };
  await expect(fixture.repository.dropParked(ids, withKey('died'), dies)).rejects.toThrow('died here');
  expect(await stateOf(ids)).toEqual(['PARKED', 'PARKED', 'PARKED']);
  expect(await countActions()).toBe(before);
  const outcomes = await outcomesOf(fixture.repository.dropParked(ids, withKey('died'), answer));
  expect(outcomes.map(({ changed }) => changed)).toEqual([true, true, true]);
  expect(await countActions()).toBe(before + 3);
});

test('a dry run uses up no key, and changes nothing', async () => {
  const ids = await park(1);
  const dry = { ...withKey('dry'), dryRun: true };
  expect(await outcomesOf(fixture.repository.dropParked(ids, dry, answer))).toMatchObject([
    { kind: 'dropped', changed: false },
  ]);
  expect(await stateOf(ids)).toEqual(['PARKED']);
  expect(await outcomesOf(fixture.repository.dropParked(ids, withKey('dry', 'wet'), answer))).toMatchObject([
    { changed: true },
  ]);
});

test('a row that MySQL refuses is undone alone: the others are settled, and it is named with the reason', async () => {
  const ids = await park(3);
  const bad = ids[1] ?? 0;
  await fixture.query(
    `CREATE TRIGGER bad_parked BEFORE UPDATE ON parked FOR EACH ROW
     BEGIN IF NEW.id = ${bad} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'spoilt'; END IF; END`,
  );
  try {
    expect(await outcomesOf(fixture.repository.dropParked(ids, asked, noAnswer))).toMatchObject([
      { id: ids[0], changed: true, kind: 'dropped' },
      { id: bad, changed: false, kind: 'failed', reason: 'spoilt' },
      { id: ids[2], changed: true, kind: 'dropped' },
    ]);
    expect(await stateOf(ids)).toEqual(['DROPPED', 'PARKED', 'DROPPED']);
  } finally {
    await fixture.query('DROP TRIGGER bad_parked');
  }
});

test('more than 200 rows are refused as a whole', async () => {
  const many = Array.from({ length: 201 }, (_, index) => index + 1);
  await expect(fixture.repository.dropParked(many, asked, noAnswer)).rejects.toThrow(RangeError);
});
