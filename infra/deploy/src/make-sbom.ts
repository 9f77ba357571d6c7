import * as CDX from '@cyclonedx/cyclonedx-library';
import type { Component } from './list-components.ts';

/**
 * The bill of materials of one image as CycloneDX 1.6, JSON: what of others is in it, with version, licence and package
 * URL. What the base image brings is the scanner's of your registry to say.
 */
export function makeSbom(app: string, version: string, components: readonly Component[]): string {
  const bom = new CDX.Models.Bom();
  bom.metadata.component = new CDX.Models.Component(CDX.Enums.ComponentType.Application, `lapse-${app}`, {
    version,
  });
  const licences = new CDX.Contrib.License.Factories.LicenseFactory(isSpdxExpression);
  for (const { name, version: of, licence, description } of components) {
    const [group, short] = name.startsWith('@') ? name.split('/', 2) : [undefined, name];
    const purl = `pkg:npm/${name.replace('@', '%40')}@${of}`;
    const component = new CDX.Models.Component(CDX.Enums.ComponentType.Library, short ?? name, {
      ...{ version: of, description, purl, bomRef: purl },
      ...(group !== undefined && { group }),
    });
    if (licence !== '') component.licenses.add(licences.makeFromString(licence));
    bom.components.add(component);
  }
  const normalize = new CDX.Serialize.JSON.Normalize.Factory(CDX.Spec.Spec1dot6);
  return new CDX.Serialize.JsonSerializer(normalize).serialize(bom, { sortLists: true, space: 2 });
}

function isSpdxExpression(text: string): boolean {
  return / (AND|OR|WITH) /.test(text);
}
