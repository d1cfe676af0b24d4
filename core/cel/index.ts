export {
  MESSAGE_EXPRESSION_BYTES_MAX,
  PER_CALL_COST_LIMIT,
  REQUEST_BYTES_MAX,
  RUNTIME_COST_BUDGET,
  RUNTIME_COST_BUDGET_MATCH_CONDITIONS,
  STATIC_ESTIMATED_COST_LIMIT,
  STATIC_ESTIMATED_CRD_COST_LIMIT,
} from './bounds.ts';
export type { EstimateSize } from './cost/nodes.ts';
export type { Range } from './cost/ranges.ts';
export {
  type CompileOptions,
  type CompileResult,
  type Environment,
  type EnvironmentOptions,
  type Variable,
  createEnvironment,
  estimateCost,
} from './environment.ts';
export {
  AUTHORIZER_TYPE,
  type AuthorizationDecision,
  type AuthorizationRequest,
  type Authorizer,
  CelAuthorizer,
  CelResourceCheck,
  RESOURCE_CHECK_TYPE,
} from './library/authorizer.ts';
export { type Library, global, member } from './library/declare.ts';
export type { Overload } from './values/overload.ts';
export { JSON_PATCH } from './library/jsonpatch.ts';
export {
  type Activation,
  type EvaluateOptions,
  type Evaluation,
  EvaluationInterrupted,
  type Program,
} from './program.ts';
export { escapeName, unescapeName } from './values/escape.ts';
export { type SchemaType, type SchemaTypeOptions, schemaType } from './schema/schema-type.ts';
export type { StructuralSchema } from './schema/structural.ts';
export type { Issue } from './source/issues.ts';
export type { Location } from './source/text.ts';
export type { StructDeclaration, StructTypes } from './values/struct-declaration.ts';
export * as types from './types/type.ts';
export { toNative } from './values/to-native.ts';
export { fromEscaped } from './values/escaped.ts';
export { fromNative } from './values/native.ts';
export { CelList } from './values/lists.ts';
export { CelMap } from './values/maps.ts';
export { CelStruct, LazyStruct, LiteralStruct } from './values/structs.ts';
export { CelError, CelOptional, type Value, error } from './values/value.ts';
export type { Version } from './versions.ts';
