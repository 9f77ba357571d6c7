import satisfies from 'spdx-satisfies';
import type { Component } from './list-components.ts';

/** Licences that ask for a notice and no more, so that an image may be given away under Apache-2.0. */
const allowedLicences = [
  ...[
    '0BSD',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'CC0-1.0',
    'ISC',
    'MIT',
    'MIT-0',
  ],
  ...['Python-2.0', 'Unlicense', 'Zlib'],
];

/** @returns each package whose licence is not allowed, or is not said in a form that can be judged. */
export function checkLicences(components: readonly Component[]): string[] {
  return components
    .filter(({ licence }) => !isAllowed(licence))
    .map(({ name, version, licence }) => `${name}@${version}: licence "${licence}" is not allowed`);
}

function isAllowed(licence: string): boolean {
  try {
    return satisfies(licence, allowedLicences);
  } catch {
    // Not an SPDX expression.
    return false;
  }
}
