/** As kubeadm marks its control planes: a label and a taint of one name. */
export const CONTROL_PLANE_LABEL = 'node-role.kubernetes.io/control-plane';
export const EXCLUDED_FROM_LOAD_BALANCERS_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';
