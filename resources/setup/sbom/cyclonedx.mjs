import { createHash } from 'node:crypto';

const SPEC_VERSION = '1.6';
/** SPDX identifiers that are one licence; anything else is an expression. */
const SINGLE_LICENCE = /^[\w.+-]+$/;

const purlOf = ({ name, version }) =>
  `pkg:npm/${name.startsWith('@') ? `%40${name.slice(1)}` : name}@${version}`;

const licencesOf = (licence) => {
  if (licence === 'NOASSERTION') return [];
  return [SINGLE_LICENCE.test(licence) ? { license: { id: licence } } : { expression: licence }];
};

const hashesOf = (integrity) => {
  const base64 = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1];
  return base64 === undefined
    ? []
    : [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }];
};

const componentOf = (entry) => {
  const ref = entry.purl ?? purlOf(entry);
  const hashes = hashesOf(entry.integrity);
  return {
    type: entry.type ?? 'library',
    'bom-ref': ref,
    name: entry.name,
    version: entry.version,
    licenses: licencesOf(entry.licence),
    purl: ref,
    ...(hashes.length > 0 && { hashes }),
  };
};

/** A version 5 shaped UUID of the content, so that one commit has one serial number. */
const serialOf = (content) => {
  const hex = createHash('sha256').update(content).digest('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** The bill of materials. `epoch`: seconds, of the source. */
export const cycloneDx = ({ version, packages, epoch }) => {
  const components = packages.map(componentOf);
  const root = `pkg:npm/pilothouse@${version}`;
  return {
    bomFormat: 'CycloneDX',
    specVersion: SPEC_VERSION,
    serialNumber: serialOf(JSON.stringify([version, components])),
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': root,
        name: 'pilothouse',
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
        purl: root,
      },
    },
    components,
    dependencies: [{ ref: root, dependsOn: components.map((component) => component['bom-ref']) }],
  };
};
