import { expect, test } from 'vitest';
import { openApiThreeUrl, swaggerPart } from './remote-openapi.ts';

const GV = { group: 'wardle.example.com', version: 'v1alpha1' };
const ROOT = '/apis/wardle.example.com/v1alpha1';
const ref = (name: string): object => ({ schema: { $ref: `#/definitions/${name}` } });

test('of an OpenAPI 2 document the paths of the group version count, and what they lead to', () => {
  const document = {
    paths: {
      '/apis/': { get: ref('Groups') },
      [`${ROOT}/flunders`]: { get: { responses: { 200: ref('FlunderList') } } },
      [`${ROOT}1/other`]: { get: ref('Other') },
      [`${ROOT}/broken`]: 'text',
    },
    definitions: {
      FlunderList: { properties: { items: { items: { $ref: '#/definitions/Flunder' } } } },
      Flunder: {
        properties: { self: { $ref: '#/definitions/Flunder' }, gone: { $ref: '#/definitions/Gone' } },
      },
      Groups: {},
      Other: {},
    },
  };
  const { paths, definitions } = swaggerPart(document, GV);
  expect([paths.map(([path]) => path), definitions.map(([name]) => name)]).toEqual([
    [`${ROOT}/flunders`],
    ['FlunderList', 'Flunder'],
  ]);
});

test('the address of an OpenAPI 3 document is taken from the index, if it is one of that server', () => {
  const index = (serverRelativeURL: unknown): object => ({
    paths: { [ROOT.slice(1)]: { serverRelativeURL } },
  });
  expect(
    [index(`/openapi/v3${ROOT}?hash=A`), index('https://elsewhere.example.com/'), index(7), {}].map(
      (document) => openApiThreeUrl(document as Record<string, unknown>, GV),
    ),
  ).toEqual([`/openapi/v3${ROOT}?hash=A`, undefined, undefined, undefined]);
});
