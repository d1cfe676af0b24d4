export { hasMessage, valueFieldsOf } from './message-type.ts';
export { isProtobuf, parseProtobuf, type FindStruct } from './parse-protobuf.ts';
