import type { OpenApiSchema } from '../../../api/schema/index.ts';
import { MessageWriter } from '../../../base/node/protobuf/message-writer.ts';
import type { SwaggerOperation, SwaggerParameter, SwaggerPath, SwaggerResponse } from './swagger-two.ts';

/**
 * The binary form of OpenAPI 2: gnostic's `openapi.v2.Document`, whose field numbers these are. kubectl before 1.27
 * reads schemas in no other form. Values without a type of their own travel as YAML, which JSON is.
 */
const anyOf = (value: unknown): MessageWriter => new MessageWriter().string(2, JSON.stringify(value));

const isExtension = (name: string): boolean => name.startsWith('x-');

const writeExtensions = (message: MessageWriter, field: number, value: object): void => {
  for (const [name, extension] of Object.entries(value))
    if (isExtension(name) && extension !== undefined)
      message.message(field, new MessageWriter().string(1, name).message(2, anyOf(extension)));
};

/** What schemas of custom resources may hold besides what built-in types use. */
interface WrittenSchema extends OpenApiSchema {
  title?: string;
  multipleOf?: number;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  minProperties?: number;
  enum?: unknown[];
}

const namedSchemas = (schemas: Readonly<Record<string, OpenApiSchema>>): MessageWriter => {
  const message = new MessageWriter();
  for (const [name, schema] of Object.entries(schemas))
    message.message(1, new MessageWriter().string(1, name).message(2, schemaMessage(schema)));
  return message;
};

const schemaMessage = (schema: WrittenSchema): MessageWriter => {
  const { items, additionalProperties, properties } = schema;
  const message = new MessageWriter()
    .string(1, schema.$ref)
    .string(2, schema.format)
    .string(3, schema.title)
    .string(4, schema.description)
    .message(5, schema.default === undefined ? undefined : anyOf(schema.default))
    .double(6, schema.multipleOf)
    .double(7, schema.maximum)
    .bool(8, schema.exclusiveMaximum)
    .double(9, schema.minimum)
    .bool(10, schema.exclusiveMinimum)
    .integer(11, schema.maxLength)
    .integer(12, schema.minLength)
    .string(13, schema.pattern)
    .integer(14, schema.maxItems)
    .integer(15, schema.minItems)
    .bool(16, schema.uniqueItems)
    .integer(17, schema.maxProperties)
    .integer(18, schema.minProperties)
    .strings(19, schema.required);
  for (const value of schema.enum ?? []) message.message(20, anyOf(value));
  message
    .message(21, additionalProperties && new MessageWriter().message(1, schemaMessage(additionalProperties)))
    .message(22, schema.type === undefined ? undefined : new MessageWriter().strings(1, [schema.type]))
    .message(23, items && new MessageWriter().message(1, schemaMessage(items)));
  for (const part of schema.allOf ?? []) message.message(24, schemaMessage(part));
  message.message(25, properties && namedSchemas(properties));
  writeExtensions(message, 31, schema);
  return message;
};

/** Query and path parameters differ by one field, so all after it are moved. */
const nonBodyParameter = (parameter: SwaggerParameter): MessageWriter => {
  const isQuery = parameter.in === 'query';
  const moved = isQuery ? 1 : 0;
  const message = new MessageWriter()
    .bool(1, parameter.required)
    .string(2, parameter.in)
    .string(3, parameter.description)
    .string(4, parameter.name)
    .string(5 + moved, parameter.type)
    .bool(19 + moved, parameter.uniqueItems);
  return new MessageWriter().message(isQuery ? 3 : 4, message);
};

const parameterItem = (parameter: SwaggerParameter): MessageWriter => {
  const written = new MessageWriter();
  if (parameter.schema)
    written.message(
      1,
      new MessageWriter()
        .string(1, parameter.description)
        .string(2, parameter.name)
        .string(3, parameter.in)
        .bool(4, parameter.required)
        .message(5, schemaMessage(parameter.schema)),
    );
  else written.message(2, nonBodyParameter(parameter));
  return new MessageWriter().message(1, written);
};

const responseValue = ({ description, schema }: SwaggerResponse): MessageWriter => {
  const response = new MessageWriter()
    .string(1, description)
    .message(2, schema && new MessageWriter().message(1, schemaMessage(schema)));
  return new MessageWriter().message(1, response);
};

const operationMessage = (operation: SwaggerOperation): MessageWriter => {
  const message = new MessageWriter()
    .strings(1, operation.tags)
    .string(3, operation.description)
    .string(5, operation.operationId)
    .strings(6, operation.produces)
    .strings(7, operation.consumes);
  for (const parameter of operation.parameters ?? []) message.message(8, parameterItem(parameter));
  const responses = new MessageWriter();
  for (const [code, response] of Object.entries(operation.responses))
    responses.message(1, new MessageWriter().string(1, code).message(2, responseValue(response)));
  message.message(9, responses).strings(10, operation.schemes);
  writeExtensions(message, 13, operation);
  return message;
};

const OPERATION_FIELDS: Readonly<Record<string, number>> = {
  get: 2,
  put: 3,
  post: 4,
  delete: 5,
  options: 6,
  head: 7,
  patch: 8,
};
const PARAMETERS_FIELD = 9;

/** One entry of `Paths.path`. */
export const pathEntry = (path: string, item: SwaggerPath): Buffer => {
  const message = new MessageWriter();
  for (const [key, value] of Object.entries(item)) {
    const field = OPERATION_FIELDS[key];
    if (field !== undefined) message.message(field, operationMessage(value as SwaggerOperation));
    else
      for (const parameter of value as readonly SwaggerParameter[])
        message.message(PARAMETERS_FIELD, parameterItem(parameter));
  }
  return new MessageWriter().string(1, path).message(2, message).finish();
};

/** One entry of `Definitions.additional_properties`. */
export const definitionEntry = (name: string, schema: OpenApiSchema): Buffer =>
  new MessageWriter().string(1, name).message(2, schemaMessage(schema)).finish();

export interface SwaggerHead {
  readonly swagger: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly securityDefinitions: Readonly<
    Record<
      string,
      { readonly type: string; readonly name: string; readonly in: string; readonly description: string }
    >
  >;
}

/** The whole document around entries that were written one by one. */
export const documentMessage = (
  head: SwaggerHead,
  paths: readonly Uint8Array[],
  definitions: readonly Uint8Array[],
): Buffer => {
  const pathsMessage = new MessageWriter();
  for (const entry of paths) pathsMessage.bytes(2, entry);
  const definitionsMessage = new MessageWriter();
  for (const entry of definitions) definitionsMessage.bytes(1, entry);
  const document = new MessageWriter()
    .string(1, head.swagger)
    .message(2, new MessageWriter().string(1, head.info.title).string(2, head.info.version))
    .message(8, pathsMessage)
    .message(9, definitionsMessage);
  for (const requirement of head.security) {
    const message = new MessageWriter();
    for (const [name, scopes] of Object.entries(requirement))
      message.message(
        1,
        new MessageWriter().string(1, name).message(2, new MessageWriter().strings(1, scopes)),
      );
    document.message(12, message);
  }
  const security = new MessageWriter();
  for (const [name, key] of Object.entries(head.securityDefinitions)) {
    const apiKey = new MessageWriter()
      .string(1, key.type)
      .string(2, key.name)
      .string(3, key.in)
      .string(4, key.description);
    security.message(
      1,
      new MessageWriter().string(1, name).message(2, new MessageWriter().message(2, apiKey)),
    );
  }
  return document.message(13, security).finish();
};
