import type { OpenApiSchema } from '../../../api/schema/index.ts';
import {
  ownParameters,
  sharedParameters,
  type ApiOperation,
  type ApiPath,
  type ResponseSchema,
} from './operations.ts';
import type { ApiParameter } from './parameters.ts';

/** The parts of an OpenAPI 2 document as JSON has them; the encoder for the binary form reads the same. */
export interface SwaggerParameter {
  readonly name: string;
  readonly in: string;
  readonly type?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly uniqueItems?: boolean;
  readonly schema?: OpenApiSchema;
}

export interface SwaggerResponse {
  readonly description: string;
  readonly schema?: OpenApiSchema;
}

export interface SwaggerOperation {
  readonly description: string;
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly schemes: readonly string[];
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly parameters?: readonly SwaggerParameter[];
  readonly responses: Readonly<Record<string, SwaggerResponse>>;
  readonly 'x-kubernetes-action'?: string;
  readonly 'x-kubernetes-group-version-kind'?: object;
}

export type SwaggerPath = Readonly<Record<string, SwaggerOperation | readonly SwaggerParameter[]>>;

const refOf = (definition: string): OpenApiSchema => ({ $ref: `#/definitions/${definition}` });

/** Given in place and not by reference: kubectl before 1.27 looks for dryRun and fieldValidation in the operation. */
const parameterOf = ({ name, in: place, type, description }: ApiParameter): SwaggerParameter => ({
  uniqueItems: true,
  type,
  description,
  name,
  in: place,
  ...(place === 'path' && { required: true }),
});

export const STATUS_TEXTS = { 200: 'OK', 201: 'Created', 202: 'Accepted' } as const;
export const UNAUTHORIZED = { description: 'Unauthorized' } as const;

const schemaOf = (schema: ResponseSchema): OpenApiSchema | undefined =>
  schema === 'string' ? { type: 'string' } : schema && refOf(schema.definition);

const responsesOf = ({ responses }: ApiOperation): Record<string, SwaggerResponse> => {
  const answers: Record<string, SwaggerResponse> = {};
  for (const [code, schema] of responses) {
    const written = schemaOf(schema);
    answers[code] = { description: STATUS_TEXTS[code], ...(written && { schema: written }) };
  }
  return { ...answers, 401: UNAUTHORIZED };
};

const operationOf = (operation: ApiOperation, shared: readonly ApiParameter[]): SwaggerOperation => {
  const { body, action, kind } = operation;
  const parameters: SwaggerParameter[] = ownParameters(operation, shared).map(parameterOf);
  if (body)
    parameters.unshift({
      name: 'body',
      in: 'body',
      ...(body.required && { required: true }),
      schema: refOf(body.definition),
    });
  return {
    description: operation.description,
    consumes: operation.consumes,
    produces: operation.produces,
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length > 0 && { parameters }),
    responses: responsesOf(operation),
    ...(action !== undefined && { 'x-kubernetes-action': action }),
    ...(kind && { 'x-kubernetes-group-version-kind': kindOf(kind) }),
  };
};

export const kindOf = ({ group, version, kind }: NonNullable<ApiOperation['kind']>): object => ({
  group,
  kind,
  version,
});

export const swaggerPath = (path: ApiPath): SwaggerPath => {
  const shared = sharedParameters(path);
  return {
    ...Object.fromEntries(
      path.operations.map((operation) => [operation.method, operationOf(operation, shared)]),
    ),
    ...(shared.length > 0 && { parameters: shared.map(parameterOf) }),
  };
};
