import { expect, test } from 'vitest';
import type { Client, RawRequest } from '../client.ts';
import { NAMESPACE, POD } from '../kinds.ts';
import { metadataOnly } from './metadata-client.ts';

const recorded = () => {
  const accepts: (string | undefined)[] = [];
  const json = (request: RawRequest) => {
    accepts.push(request.accept?.split(';')[1]);
    return Promise.resolve({ items: [] });
  };
  return { accepts, client: metadataOnly({ json } as unknown as Client) };
};

test('lists ask for metadata, single objects are whole', async () => {
  const { accepts, client } = recorded();
  await client.resource(POD).list();
  await client.resource(POD, 'default').list();
  await client.resource(NAMESPACE).list();
  await client.resource(POD, 'default').get('a');
  await client.resource(NAMESPACE).get('a');
  await client.resource(NAMESPACE).getSubresource('a', 'status');
  expect(accepts).toEqual([
    'as=PartialObjectMetadataList',
    'as=PartialObjectMetadataList',
    'as=PartialObjectMetadataList',
    undefined,
    undefined,
    undefined,
  ]);
});
