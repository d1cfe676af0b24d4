import type { FieldError } from '../../field/field-error.ts';
import { duplicate, invalid, required } from '../../field/field-error.ts';
import { child, index, type FieldPath } from '../../field/field-path.ts';
import { isTrue, objs, str, type Obj } from '../read.ts';

const NAME_LENGTH_MAX = 253;
const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const NAME_FORMAT = `^(${SEGMENT}[\\./])*${SEGMENT}$`;
const NAME = new RegExp(NAME_FORMAT);

const IPC_NAMES = new Set([
  'kernel.sem',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
  'kernel.shm_rmid_forced',
  'kernel.shm',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  'kernel.msg',
]);

/** With dots between its parts; where the first separator is a slash, dots and slashes have changed places. */
const dotted = (name: string): string =>
  /^[^./]*\//.test(name) ? name.replace(/[./]/g, (separator) => (separator === '.' ? '/' : '.')) : name;

/** The field of a pod that gives the namespace of the sysctl away to the host. */
const sharedBy = (name: string, spec: Obj): 'hostNetwork' | 'hostIPC' | undefined => {
  const [known = ''] = dotted(name).split('*');
  if (known.startsWith('net.')) return isTrue(spec, 'hostNetwork') ? 'hostNetwork' : undefined;
  const isIpc = IPC_NAMES.has(known) || known.startsWith('fs.mqueue.');
  return isIpc && isTrue(spec, 'hostIPC') ? 'hostIPC' : undefined;
};

/** Names of kernel parameters: of a form that the kernel knows, each once, and none that the host would share. */
export function sysctls(path: FieldPath, context: Obj, spec: Obj): FieldError[] {
  const seen = new Set<string>();
  return objs(context, 'sysctls').flatMap((sysctl, i) => {
    const at = child(index(path, i), 'name');
    const name = str(sysctl, 'name');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(at));
    else if (name.length > NAME_LENGTH_MAX || !NAME.test(name))
      errors.push(
        invalid(at, name, `must have at most ${NAME_LENGTH_MAX} characters and match regex ${NAME_FORMAT}`),
      );
    else if (seen.has(name)) errors.push(duplicate(at, name));
    const field = sharedBy(name, spec);
    if (field) errors.push(invalid(at, name, `may not be specified when '${field}' is true`));
    seen.add(name);
    return errors;
  });
}
