export type { FieldCause, FieldError, FieldErrorList, FieldErrorType } from '../field/field-error.ts';
export {
  aggregateText,
  causesOf,
  duplicate,
  errorBody,
  errorText,
  FieldErrors,
  forbidden,
  internalError,
  invalid,
  notFound,
  notSupported,
  OMITTED,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../field/field-error.ts';
export type { FieldPath } from '../field/field-path.ts';
export { child, index, key, NO_PATH } from '../field/field-path.ts';
export * from '../field/formats.ts';
export type { MetaRules } from './object-meta.ts';
export { fieldManagerName, objectMeta, objectMetaUpdate } from './object-meta.ts';
export { eventErrors, eventUpdateErrors } from './kinds/event.ts';
export { privilegedContainers } from './privileged.ts';
export type { KindRules } from './rules.ts';
export { rulesOf, statusOf, validateCreate, validateUpdate } from './validate.ts';
export type { CronFields, CronSchedule } from './cron.ts';
export { parseCron } from './cron.ts';
export { cidr, ip, inRange, parseCidr, parseIp } from './ip.ts';
export { deleteOptionsErrors, patchOptionsErrors, writeOptionsErrors } from './request-options.ts';
export { bindingErrors } from './kinds/pod.ts';
export { clusterIpErrors } from './kinds/service.ts';
export { objectWarnings } from './warnings/objects.ts';
