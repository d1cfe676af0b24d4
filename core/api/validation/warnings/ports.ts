import { goQuote } from '../../field/go-text.ts';
import { child, index, type FieldPath } from '../../field/field-path.ts';
import { int, objs, str, type Obj } from '../read.ts';

interface Port {
  readonly path: FieldPath;
  readonly hostIp: string;
  readonly hostPort: number;
}

const conflictOf = (port: Port, other: Port): string | undefined => {
  if (port.hostIp === other.hostIp && port.hostPort === other.hostPort) return 'duplicate port definition';
  if (port.hostPort === 0 || other.hostPort === 0) return 'overlapping port definition';
  const isAmbiguous = (port.hostIp === '') !== (other.hostIp === '') && port.hostPort === other.hostPort;
  return isAmbiguous ? 'dangerously ambiguous port definition' : undefined;
};

/** Ports of all containers together: those that take the same number or name. */
export const portWarnings = (
  containers: readonly { readonly path: FieldPath; readonly container: Obj }[],
): string[] => {
  const numbers = new Map<string, Port[]>();
  const names = new Map<string, FieldPath>();
  const [ofNumbers, ofNames]: [string[], string[]] = [[], []];
  for (const { path, container } of containers)
    objs(container, 'ports').forEach((port, number) => {
      const at = index(child(path, 'ports'), number);
      const [hostIp, hostPort] = [str(port, 'hostIP'), int(port, 'hostPort')];
      const [name, protocol, containerPort] = [
        str(port, 'name'),
        str(port, 'protocol'),
        int(port, 'containerPort'),
      ];
      if (hostIp !== '' && hostPort === 0)
        ofNumbers.push(
          `${at}: hostIP set without hostPort: {Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIp}}`,
        );
      const taken = `${containerPort}/${protocol}`;
      const others = numbers.get(taken) ?? [];
      const one = { path: at, hostIp, hostPort };
      for (const other of others) {
        const conflict = conflictOf(one, other);
        if (conflict !== undefined) ofNumbers.push(`${at}: ${conflict} with ${other.path}`);
      }
      numbers.set(taken, [...others, one]);
      const first = names.get(name);
      if (name !== '' && first === undefined) names.set(name, at);
      else if (name !== '')
        ofNames.push(
          `${at}: duplicate port name ${goQuote(name)} with ${first}, services and probes that select ports by name will use ${first}`,
        );
    });
  return [...ofNumbers, ...ofNames];
};
