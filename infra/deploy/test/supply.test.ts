import { rootDir } from '@lapse/stack';
import { beforeAll, describe, expect, test } from 'vitest';
import { judgeAudit } from '../src/audit.ts';
import { checkLicences } from '../src/check-licences.ts';
import { images } from '../src/images.ts';
import { type Component, listComponents } from '../src/list-components.ts';
import { makeSbom } from '../src/make-sbom.ts';

let listed: ReadonlyMap<string, readonly Component[]>;

beforeAll(async () => {
  listed = await listComponents(rootDir, new AbortController().signal);
});

function one(licence: string): Component {
  return { name: 'one', version: '1.0.0', licence, description: '' };
}

test('every image has only packages whose licence may be passed on', () => {
  expect([...listed.keys()]).toEqual(images.map(({ app }) => app));
  for (const [app, components] of listed) expect(checkLicences(components), app).toEqual([]);
});

test('what our own packages bring is listed, and what is for development is not', () => {
  const names = (app: string) => listed.get(app)?.map(({ name }) => name);
  expect(names('closer')).toEqual(
    expect.arrayContaining(['mysql2', 'ioredis', 'rocketmq-client-nodejs', 'pino']),
  );
  expect(names('closer')).not.toContain('vitest');
  expect(names('closer')).not.toContain('stripe');
  expect(names('producer')).toContain('stripe');
});

describe('a licence that is not allowed, or cannot be judged, is a fault', () => {
  test.each([
    'GPL-3.0-only',
    'AGPL-3.0-or-later',
    'MIT AND GPL-2.0-only',
    'SEE LICENSE IN LICENSE',
    '',
    'UNLICENSED',
  ])('"%s"', (licence) => {
    expect(checkLicences([one(licence)])).toEqual([`one@1.0.0: licence "${licence}" is not allowed`]);
  });
  test('a choice that includes an allowed one is none', () => {
    expect(checkLicences([one('(GPL-3.0-only OR MIT)')])).toEqual([]);
  });
});

describe('an audit', () => {
  test('that found something, and one that nobody answered, are not the same', () => {
    expect(judgeAudit(0, 'No known vulnerabilities found')).toEqual({ kind: 'clean' });
    expect(judgeAudit(1, '1 vulnerabilities found\nSeverity: 1 high').kind).toBe('vulnerable');
    expect(judgeAudit(1, ' ERR_PNPM_AUDIT_BAD_RESPONSE  The audit endpoint responded with 405').kind).toBe(
      'unanswered',
    );
    expect(judgeAudit(null, '').kind).toBe('unanswered');
  });
});

test('a bill of materials names each package with its version and licence', () => {
  const components = listed.get('closer') ?? [];
  const bom = JSON.parse(makeSbom('closer', '0.1.0', components));
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  expect(bom.metadata.component).toMatchObject({ name: 'lapse-closer', version: '0.1.0' });
  expect(bom.components).toHaveLength(components.length);
  const grpc = components.find(({ name }) => name === '@grpc/grpc-js');
  expect(bom.components).toContainEqual(
    expect.objectContaining({
      ...{ group: '@grpc', name: 'grpc-js', purl: `pkg:npm/%40grpc/grpc-js@${grpc?.version}` },
      licenses: [{ license: { id: 'Apache-2.0' } }],
    }),
  );
});
