import type { GroupKind } from '../../meta/group-version.ts';
import type { KubernetesObject } from '../../meta/object-meta.ts';
import { eventToCore } from '../conversion/event.ts';
import { autoscalerFromV1 } from '../conversion/horizontal-pod-autoscaler.ts';
import { ACCESS_PRINTERS } from './access.ts';
import { HORIZONTAL_POD_AUTOSCALER } from './autoscaler.ts';
import { CLUSTER_PRINTERS } from './cluster.ts';
import { NETWORKING_PRINTERS } from './networking.ts';
import { POD } from './pod.ts';
import { column, NAME, nameOf, text, type TablePrinter } from './printer.ts';
import { STORAGE_PRINTERS } from './storage.ts';
import { WORKLOAD_PRINTERS } from './workloads.ts';

export { podStatusText } from './pod.ts';
export type { Cell, RowCondition, TableColumn, TablePrinter } from './printer.ts';

/** What a kind without columns of its own shows. */
export const DEFAULT_PRINTER: TablePrinter = {
  columns: [NAME, column('Created At', 'When the object was created.', { type: 'date' })],
  cells: (object) => [nameOf(object), text(object, 'metadata', 'creationTimestamp')],
};

/** Prints an object of another version after turning it into the one the printer reads. */
const converting = (
  printer: TablePrinter,
  version: string,
  convert: (object: KubernetesObject) => KubernetesObject,
): TablePrinter => ({
  ...printer,
  cells: (object, nowMs) => printer.cells(object.apiVersion === version ? convert(object) : object, nowMs),
});

const PRINTERS: Readonly<Record<string, TablePrinter | undefined>> = {
  ...WORKLOAD_PRINTERS,
  ...NETWORKING_PRINTERS,
  ...STORAGE_PRINTERS,
  ...CLUSTER_PRINTERS,
  ...ACCESS_PRINTERS,
  '/Pod': POD,
  'events.k8s.io/Event': converting(CLUSTER_PRINTERS['/Event']!, 'events.k8s.io/v1', eventToCore),
  'autoscaling/HorizontalPodAutoscaler': converting(
    HORIZONTAL_POD_AUTOSCALER,
    'autoscaling/v1',
    autoscalerFromV1,
  ),
};

/** The columns of `kubectl get` for a built-in kind. Custom resources bring their own. */
export const printerOf = ({ group, kind }: GroupKind): TablePrinter =>
  PRINTERS[`${group}/${kind}`] ?? DEFAULT_PRINTER;

/** Kinds with columns of their own, as `group/Kind`; a test holds them against the resources. */
export const printedKinds = (): readonly string[] => Object.keys(PRINTERS);
