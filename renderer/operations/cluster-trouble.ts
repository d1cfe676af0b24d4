import type { ClusterEntry, ContractError } from '../../core/contract/index.ts';
import { t } from '../locales/i18n.ts';

/** Not to be believed is something else than not to be reached: the first is fixed in the kubeconfig. */
export const troubleTitle = ({ name }: ClusterEntry, { reason }: ContractError): string =>
  t(reason === 'Forbidden' ? 'gate.refused.title' : 'gate.failed.title', { name });
