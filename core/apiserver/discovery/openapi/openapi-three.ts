import type { OpenApiSchema } from '../../../api/schema/index.ts';
import {
  ownParameters,
  sharedParameters,
  type ApiOperation,
  type ApiPath,
  type ResponseSchema,
} from './operations.ts';
import type { ApiParameter } from './parameters.ts';
import { kindOf, STATUS_TEXTS, UNAUTHORIZED } from './swagger-two.ts';

const refOf = (definition: string): OpenApiSchema => ({ $ref: `#/components/schemas/${definition}` });

const parameterOf = ({ name, in: place, type, description }: ApiParameter): object => ({
  name,
  in: place,
  description,
  ...(place === 'path' && { required: true }),
  schema: { type, uniqueItems: true },
});

const contentOf = (types: readonly string[], schema: OpenApiSchema): object =>
  Object.fromEntries(types.map((type) => [type, { schema }]));

const schemaOf = (schema: ResponseSchema): OpenApiSchema | undefined =>
  schema === 'string' ? { type: 'string' } : schema && refOf(schema.definition);

const responsesOf = ({ responses, produces }: ApiOperation): object => {
  const answers: Record<string, object> = {};
  for (const [code, schema] of responses) {
    const written = schemaOf(schema);
    answers[code] = {
      description: STATUS_TEXTS[code],
      ...(written && { content: contentOf(produces, written) }),
    };
  }
  return { ...answers, 401: UNAUTHORIZED };
};

const operationOf = (operation: ApiOperation, shared: readonly ApiParameter[]): object => {
  const { body, action, kind } = operation;
  const parameters = ownParameters(operation, shared);
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    ...(parameters.length > 0 && { parameters: parameters.map(parameterOf) }),
    ...(body && {
      requestBody: {
        content: contentOf(body.consumes, refOf(body.definition)),
        ...(body.required && { required: true }),
      },
    }),
    responses: responsesOf(operation),
    ...(action !== undefined && { 'x-kubernetes-action': action }),
    ...(kind && { 'x-kubernetes-group-version-kind': kindOf(kind) }),
  };
};

export const openApiPath = (path: ApiPath): object => {
  const shared = sharedParameters(path);
  return {
    ...Object.fromEntries(
      path.operations.map((operation) => [operation.method, operationOf(operation, shared)]),
    ),
    ...(shared.length > 0 && { parameters: shared.map(parameterOf) }),
  };
};
